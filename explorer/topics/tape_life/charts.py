"""Charts of the tape's life: the bytes that are kept, step by step and at the forward's end."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from explorer.model.engines import ENGINES
from explorer.model.study import Chart, Series
from explorer.topics.evidence import Evidence
from explorer.topics.tape_life.questions import LIFETIME, TOPIC
from explorer.topics.tape_life.wording import after_forward, label_in_a_list

KEPT = {"bytes": "made by the forward", "of inputs and parameters": "inputs and parameters"}
"""What is kept at the end of the forward, by the names of its figures."""


FAR_APART = 20
"""Engines whose peaks are more than this many times apart are drawn on a logarithmic axis.

On another one the lower line would lie on the axis.
"""


@TOPIC.chart()
def bytes_alive(evidence: Evidence) -> Iterator[Chart]:
    """The bytes kept for the backward, step by step."""
    lines: dict[str, Steps] = {}
    peaks: dict[str, float] = {}
    for engine, life in evidence[LIFETIME].items():
        moments, kept = bytes_over_time(life["steps"])
        lines[ENGINES[engine].label] = (moments, kept)
        peaks[label_in_a_list(engine)] = max(kept)
    if not lines:
        return

    is_logarithmic = _are_far_apart(peaks.values())
    series = []
    for label, line in lines.items():
        series.append(Series(label, *(without_zeros(line) if is_logarithmic else line)))
    highest = ", ".join(f"{peak:,.0f} ({label})" for label, peak in peaks.items())
    yield Chart(
        name="bytes-alive",
        title="Bytes kept for the backward",
        kind="steps",
        x="0 to 1: the forward, operator by operator; 1 to 2: the backward",
        y="bytes beyond inputs and parameters",
        series=tuple(series),
        log=("y",) if is_logarithmic else (),
        note=(
            f"At most {highest}. Tapes are watched; of graphs it is read off what the backward"
            " still needs."
        ),
    )


def _are_far_apart(peaks: Iterable[float]) -> bool:
    kept = [peak for peak in peaks if peak > 0]
    return bool(kept) and max(kept) > FAR_APART * min(kept)


Steps = tuple[tuple[float, ...], tuple[float | None, ...]]
"""Moments, and what is kept from each of them on."""


def without_zeros(line: Steps) -> Steps:
    """A line for a logarithmic axis, which has no zero: it ends where nothing is kept any more."""
    moments: list[float] = []
    heights: list[float | None] = []
    last: float | None = None
    for moment, kept in zip(*line, strict=True):
        # What was kept was kept up to this moment.
        if not kept and last:
            moments.append(moment)
            heights.append(last)
        moments.append(moment)
        heights.append(kept or None)
        last = kept
    return tuple(moments), tuple(heights)


def bytes_over_time(steps: list[dict[str, Any]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
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
    names = tuple(map(label_in_a_list, lives))
    peaks = [after_forward(life) for life in lives.values()]
    series = []
    sizes = []
    for figure, label in KEPT.items():
        bars = tuple(float(peak[figure]) for peak in peaks)
        series.append(Series(label, names, bars))
        # In numbers too: beside a long bar a short one is hardly seen.
        pairs = zip(names, bars, strict=True)
        listed = ", ".join(f"{size:,.0f} ({name})" for name, size in pairs)
        sizes.append(f"{label.capitalize()}: {listed}.")
    if lives:
        yield Chart(
            name="bytes-kept",
            title="Kept at the end of the forward",
            kind="bars",
            x="engine",
            y="bytes",
            series=tuple(series),
            note=" ".join(sizes),
        )
