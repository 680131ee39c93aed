"""The charts of the study of the tape's life."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from explorer.model.engines import ENGINES
from explorer.model.study import Chart, Series
from explorer.topics.evidence import Evidence
from explorer.topics.tape_life.questions import LIFETIME, TOPIC
from explorer.topics.tape_life.wording import after_forward

KEPT = {"bytes": "made by the forward", "of inputs and parameters": "inputs and parameters"}
"""What is kept at the end of the forward, by the names of its figures."""


@TOPIC.chart()
def bytes_alive(evidence: Evidence) -> Iterator[Chart]:
    """The bytes kept for the backward, step by step."""
    series = []
    peaks = []
    for engine, life in evidence[LIFETIME].items():
        label = ENGINES[engine].label
        moments, kept = bytes_over_time(life["steps"])
        series.append(Series(label, moments, kept))
        peaks.append(f"{label}: {max(kept):.0f}")
    if series:
        yield Chart(
            name="bytes-alive",
            title="Bytes kept for the backward",
            kind="steps",
            x="0 to 1: the forward, operator by operator; 1 to 2: the backward",
            y="bytes beyond inputs and parameters",
            series=tuple(series),
            note=(
                f"At most {', '.join(peaks)}. Tapes are watched; of graphs it is read off what the"
                " backward still needs."
            ),
        )


def bytes_over_time(
    steps: list[dict[str, Any]],
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The moments at which the bytes kept change, and the bytes from then on.

    Time runs from 0 to 1 through the forward and from 1 to 2 through the backward, so that engines
    whose operators differ in number lie above each other.
    """
    count = Counter(step["phase"] for step in steps)
    done: Counter[str] = Counter()
    moments = [0.0]
    kept = [0.0]
    for number, step in enumerate(steps, 1):
        phase = step["phase"]
        done[phase] += 1
        # The last step too, where nothing may change: every line is to end at 2.
        if step["bytes"] != kept[-1] or number == len(steps):
            start = 1 if phase == "backward" else 0
            moments.append(round(start + done[phase] / count[phase], 6))
            kept.append(float(step["bytes"]))
    return tuple(moments), tuple(kept)


@TOPIC.chart()
def kept_at_the_end_of_the_forward(evidence: Evidence) -> Iterator[Chart]:
    """Bars of the bytes kept when the forward has ended."""
    lives = evidence[LIFETIME]
    names = tuple(ENGINES[engine].label for engine in lives)
    peaks = [after_forward(life) for life in lives.values()]
    series = []
    for figure, label in KEPT.items():
        series.append(Series(label, names, tuple(float(peak[figure]) for peak in peaks)))
    if lives:
        yield Chart(
            name="bytes-kept",
            title="Kept at the end of the forward",
            kind="bars",
            x="engine",
            y="bytes",
            series=tuple(series),
        )
