"""What the figures of the stages say, in sentences and in charts."""

from collections.abc import Iterator, Mapping

from explorer.model.measurement import Figures
from explorer.model.study import Chart, Series
from explorer.text.numbers import counted
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence, grouped
from explorer.topics.question import Question
from explorer.topics.stages.passes import readable, short
from explorer.topics.stages.programs import PHASES
from explorer.topics.stages.questions import (
    BRANCH,
    GRADIENT_PASSES,
    GRAPH,
    LOOPS,
    OTHER_VALUES,
    TOPIC,
    TRAINING_PASSES,
)
from explorer.topics.stages.readings import (
    FORM_LABELS,
    changed_operators,
    computing,
    for_both_signs,
    refusal,
    shown_passes,
    sizes_by_length,
    total,
)

TAPES = ("torch", "mindspore-tape")


@TOPIC.finding(GRADIENT_PASSES)
def gradient_through_the_passes(evidence: Evidence) -> Iterator[str]:
    """How much more the graph of a gradient holds than was written, and where it is largest."""
    figures = evidence[GRADIENT_PASSES][GRAPH]
    passes = figures["passes"]
    last = passes[-1]
    written = counted(len(figures["written"]), "call")
    yield (
        f"The gradient of {evidence.target.name or 'the net'}, written as {written}, ends with"
        f" {computing(last)} operators, {last['forward']} of the forward and {last['backward']} of"
        f" the backward, beside {last['bookkeeping']} nodes of bookkeeping, and runs as"
        f" {counted(figures['kernels'], 'kernel')}."
    )

    changed = sum(changed_operators(step) for step in passes)
    largest = max(passes, key=total)
    yield (
        f"Of {len(passes)} passes and steps of the compiler {changed} change an operator; the"
        f" program is largest after “{readable(largest['pass'])}”, with {total(largest)} nodes in"
        f" {counted(largest['graphs'], 'graph')}, and ends with {total(last)} in"
        f" {last['graphs']}."
    )


@TOPIC.finding(TRAINING_PASSES)
def optimizer_inside(evidence: Evidence) -> Iterator[str]:
    """What the graph of a whole training step holds, beside that of the gradient alone."""
    figures = evidence[TRAINING_PASSES][GRAPH]
    last = figures["passes"][-1]
    finding = (
        f"With the optimizer inside, one graph holds {counted(last['forward'], 'operator')} of the"
        f" forward, {last['backward']} of the backward and {last['update']} of the update, and runs"
        f" as {counted(figures['kernels'], 'kernel')}"
    )
    for gradient in evidence[GRADIENT_PASSES].values():
        alone = gradient["passes"][-1]
        finding += (
            "; the gradient with respect to the input and the weights alone has"
            f" {computing(alone)} operators, {alone['update']} of an update"
        )
    yield f"{finding}."


@TOPIC.finding()
def scenario_for_negated_inputs(evidence: Evidence) -> Iterator[str]:
    """Whether graph and tape of the scenario depend on the values."""
    yield from _for_negated_inputs(evidence, OTHER_VALUES, evidence.target.name or "the scenario")


@TOPIC.finding()
def branch_for_negated_inputs(evidence: Evidence) -> Iterator[str]:
    """Whether graph and tape depend on the values where the program branches on one."""
    yield from _for_negated_inputs(evidence, BRANCH, str(BRANCH.scenario))


def _for_negated_inputs(evidence: Evidence, question: Question, where: str) -> Iterator[str]:
    for graphs in evidence[question.by(GRAPH)].values():
        one, other = for_both_signs(graphs)
        is_same = one["fingerprint"] == other["fingerprint"]
        program = "the same graph" if is_same else "another graph"
        # Each tells of one call, whether it compiled.
        again = one["compiled again"] + other["compiled again"]
        yield (
            f"MindSpore compiles {program} of {where} for the negated inputs ({computing(one)} and"
            f" {computing(other)} operators), and {again} of 2 calls with other values compile"
            " again."
        )
    recorded: dict[str, str] = {}
    for party, tapes in evidence[question.by(*TAPES)].items():
        one, other = for_both_signs(tapes)
        nodes = "the same nodes" if one["tape"] == other["tape"] else "other nodes"
        count = f"{len(one['tape'])} and {len(other['tape'])}"
        recorded[FORM_LABELS[party]] = f"{nodes} for the negated inputs ({count})"
    for forms, outcome in grouped(recorded):
        yield f"{where} leaves {outcome} on {' and '.join(forms)}."


@TOPIC.finding()
def loop_by_length(evidence: Evidence) -> Iterator[str]:
    """Whether a loop's graph and tape grow with its length."""
    for form, by_length in sizes_by_length(evidence).items():
        known = _known(by_length)
        if not known:
            continue
        lengths, sizes = list(known), list(known.values())
        growth = f"grows from {sizes[0]} to {sizes[-1]}"
        if sizes[0] == sizes[-1]:
            growth = f"stays at {sizes[0]}"
        yield (
            f"{form} of a loop {growth} nodes when its length, a value, goes from {lengths[0]} to"
            f" {lengths[-1]}."
        )


def _known(by_length: Mapping[str, int | None]) -> dict[str, int]:
    """The lengths whose sizes are known."""
    return {length: size for length, size in by_length.items() if size is not None}


@TOPIC.finding(LOOPS.by("torch"))
def joint_graph_of_the_loop(evidence: Evidence) -> Iterator[str]:
    """Why PyTorch has no joint graph of the loop."""
    joint = evidence[LOOPS]["torch"]["joint while"]
    if raised(joint):
        yield f"PyTorch's joint graph of that loop cannot be captured: {refusal(joint)}."


# Charts


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
def loop_by_length_chart(evidence: Evidence) -> Iterator[Chart]:
    """The size of a loop over its length."""
    series = []
    ends = []
    for form, by_length in sizes_by_length(evidence).items():
        lengths = tuple(float(length) for length in by_length)
        # A length whose size nobody knows leaves a gap in the line.
        heights = tuple(None if size is None else float(size) for size in by_length.values())
        known = list(_known(by_length).values())
        if not known:
            continue
        ends.append(f"{form}: from {known[0]} to {known[-1]}")
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
