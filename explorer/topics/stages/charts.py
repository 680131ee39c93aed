"""The charts of the study of stages."""

from collections.abc import Iterator

from explorer.model.measurement import Figures
from explorer.model.study import Chart, Series
from explorer.topics.evidence import Evidence
from explorer.topics.stages.pass_names import readable, short
from explorer.topics.stages.programs import PHASES
from explorer.topics.stages.questions import GRADIENT_PASSES, TOPIC, TRAINING_PASSES
from explorer.topics.stages.sizes import shown_passes, sizes_by_length, total


@TOPIC.chart()
def nodes_of_the_gradient(evidence: Evidence) -> Iterator[Chart]:
    """The size of the gradient after each pass."""
    for figures in evidence[GRADIENT_PASSES].values():
        yield _nodes("gradient-passes", "Nodes after each pass: a gradient", figures)


@TOPIC.chart()
def nodes_of_the_training_step(evidence: Evidence) -> Iterator[Chart]:
    """The size of a training step after each pass."""
    for figures in evidence[TRAINING_PASSES].values():
        yield _nodes("training-passes", "Nodes after each pass: a training step", figures)


def _nodes(name: str, title: str, figures: Figures) -> Chart:
    passes = shown_passes(figures["passes"])
    # Numbered, since a pass may run in several rounds and names must be distinct.
    names = tuple(f"{number} {short(step['pass'])}" for number, step in enumerate(passes, 1))
    series = []
    for phase in PHASES:
        counts = tuple(float(step[phase]) for step in passes)
        if any(counts):
            series.append(Series(phase, names, counts))
    largest = max(passes, key=total)
    return Chart(
        name=name,
        title=title,
        kind="line",
        x="pass",
        y="nodes",
        series=tuple(series),
        note=(
            f"The largest is {total(largest)} nodes after “{readable(largest['pass'])}”. Only"
            " passes that changed something."
        ),
    )


@TOPIC.chart()
def loop_by_length(evidence: Evidence) -> Iterator[Chart]:
    """The size of a loop over its length."""
    series = []
    ends = []
    for form, by_length in sizes_by_length(evidence).items():
        lengths = tuple(float(length) for length in by_length)
        sizes = list(by_length.values())
        heights = tuple(None if size is None else float(size) for size in sizes)
        ends.append(f"{form}: from {sizes[0]} to {sizes[-1]}")
        series.append(Series(form, lengths, heights))
    if series:
        yield Chart(
            name="loop-length",
            title="Nodes of a loop whose length is a value",
            kind="line",
            x="turns of the loop",
            y="nodes",
            series=tuple(series),
            note="; ".join(ends),
        )
