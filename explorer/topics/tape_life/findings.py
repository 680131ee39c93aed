"""Findings and charts of the tape's life.

What is about the scenario comes first; what is true of any net comes second, each fact once.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from explorer.model.message import Text, message
from explorer.model.study import Chart, Series
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised
from explorer.topics.cells import listed_party, party, sentences
from explorer.topics.evidence import Evidence, grouped
from explorer.topics.observations import of_each
from explorer.topics.tape_life.figures import (
    FIRST_ALONE,
    TRUE_IN_PLACE,
    Accumulated,
    CalledAgain,
    Compiled,
    SecondBackward,
    Step,
    all_equal,
    correctness,
    count,
    forwards,
    left,
    lives,
    moments_of,
    name_of,
    names_of,
    one_after_the_other,
    only_leaf,
    refusal,
    shown,
    unwrapped,
)
from explorer.topics.tape_life.questions import (
    ACCUMULATION,
    ANSWERS,
    CALLED_AGAIN,
    COMPILED,
    EXTRA_OUTPUT,
    FORWARD_ALONE,
    FREEING,
    HOOKS,
    IN_PLACE,
    SECOND_BACKWARD,
    SECOND_BACKWARD_OF_LITTLE,
    TOPIC,
)

PYTORCHS_MOMENTS = ("after the forward", "after backward", "after backward(retain_graph=True)")
"""The moments of PyTorch's tape that are told of: kept, freed and retained."""

MINDSPORES_MOMENTS = (
    "inside the call, after the forward",
    "after the call, the loss kept",
    "after the call, the loss dropped",
)
"""The moments of MindSpore's tape that are told of."""

# About the scenario that the study is run on


@TOPIC.finding()
def kept_for_the_backward(evidence: Evidence) -> Iterator[Text]:
    """How many bytes each engine keeps for the backward, the least first, and what outlives it."""
    all_lives = lives(evidence)
    by_bytes = sorted(all_lives.items(), key=lambda item: item[1].after_forward.bytes)
    sizes: list[Text] = []
    for engine, life in by_bytes:
        kept, who = life.after_forward, listed_party(engine)
        tensors = count("tensors", kept.tensors)
        sizes.append(message("tape_life.bytes_of", bytes=kept.bytes, tensors=tensors, who=who))
    if sizes:
        net = evidence.target.name or message("tape_life.the_net")
        yield message("tape_life.kept", net=net, sizes=tuple(sizes))

    staying: dict[str, Text] = {}
    for engine, life in all_lives.items():
        number = life.after_backward.tensors
        staying[engine] = count("tensors", number) if number else message("tape_life.nothing")
    if staying:
        yield message("tape_life.staying", staying=_with_engines(staying))


@TOPIC.finding()
def recorded_on_a_tape(evidence: Evidence) -> Iterator[Text]:
    """How many nodes a forward leaves on each tape, and under the compiler."""
    nodes: dict[str, Text] = {}
    for engine, life in lives(evidence).items():
        if life.nodes is not None:
            nodes[engine] = count("nodes", len(life.nodes))
    for engine, compiled in evidence.records(COMPILED, Compiled).items():
        whole = count("nodes", len(compiled.nodes))
        nodes[engine] = message("tape_life.under_a_compiler", nodes=whole)
    if nodes:
        yield message("tape_life.recorded", nodes=_with_engines(nodes))


@TOPIC.finding(FREEING.by("torch-tape"))
def freed_by_pytorch(evidence: Evidence) -> Iterator[Text]:
    """When PyTorch's tape lets go of saved tensors and of nodes."""
    moments = moments_of(evidence, "torch-tape")
    kept, freed, retained = (moments[moment] for moment in PYTORCHS_MOMENTS)
    yield message(
        "tape_life.freed_by_pytorch",
        freed=kept.tensors - freed.tensors,
        saved=count("saved_tensors", kept.tensors),
        freed_if_retained=kept.tensors - retained.tensors,
        staying=freed.nodes,
        nodes=count("nodes", kept.nodes or 0),
    )


@TOPIC.finding(FREEING.by("mindspore-tape"))
def freed_by_mindspore(evidence: Evidence) -> Iterator[Text]:
    """When MindSpore's tape lets go of saved tensors and of nodes."""
    moments = moments_of(evidence, "mindspore-tape")
    inside, kept, dropped = (moments[moment] for moment in MINDSPORES_MOMENTS)
    yield message(
        "tape_life.freed_by_mindspore",
        freed=inside.tensors - kept.tensors,
        saved=count("saved_tensors", inside.tensors),
        staying=kept.nodes,
        nodes=count("nodes", inside.nodes or 0),
        tensors=count("tensors", kept.tensors),
        tensors_without=count("tensors", dropped.tensors),
    )


@TOPIC.finding(FORWARD_ALONE.by("mindspore-tape"))
def left_by_one_forward(evidence: Evidence) -> Iterator[Text]:
    """What one forward of MindSpore's tape leaves, by how it is called."""
    ways: list[Text] = []
    for way, forward in forwards(evidence[FORWARD_ALONE]["mindspore-tape"]).items():
        ways.append(message("tape_life.by_way", ways=(name_of(way),), outcome=left(forward)))
    yield message("tape_life.left_by_forward", ways=tuple(ways))


# In general: on nets of the study's own, whatever scenario is looked at


@TOPIC.finding(SECOND_BACKWARD)
def backward_twice(evidence: Evidence) -> Iterator[Text]:
    """What a second backward through PyTorch's tape does, by the options of the first."""
    errors: dict[str, str] = {}
    ways = evidence.records(SECOND_BACKWARD, dict[str, SecondBackward])
    for way, backward in ways["torch-tape"].items():
        second = backward.second
        errors[way] = refusal(second) if raised(second) else ""
    outcomes: list[Text] = []
    for names, error in grouped(errors):
        made = message("tape_life.runs_after", ways=names_of(names))
        if error:
            made = message("tape_life.raises_after", error=error, ways=names_of(names))
        outcomes.append(made)
    yield message("tape_life.backward_twice", outcomes=tuple(outcomes))


@TOPIC.finding(SECOND_BACKWARD_OF_LITTLE)
def backward_twice_where_little_was_saved(evidence: Evidence) -> Iterator[Text]:
    """What a second backward does where nothing, or only a part, was saved."""
    figures = evidence[SECOND_BACKWARD_OF_LITTLE]["torch-tape"]
    plain, mixed = figures["x + 1"], figures["exp(x) + y + 1"]
    yield message(
        "tape_life.backward_of_little",
        plain=_whether_it_runs(plain["second"]),
        plain_grad=shown(plain[".grad"]),
        mixed=_whether_it_runs(mixed["second"]),
        mixed_grad=shown(mixed["y.grad"]),
    )


def _whether_it_runs(outcome: Any) -> Text:
    return message("tape_life.raises" if raised(outcome) else "tape_life.runs")


@TOPIC.finding(ACCUMULATION)
def sums_in_grad(evidence: Evidence) -> Iterator[Text]:
    """What PyTorch's ``.grad`` adds up, and what the others return."""
    accumulated = evidence.records(ACCUMULATION, Accumulated)["torch-tape"]
    after_one, after_two = (shown(unwrapped(gradient)) for gradient in accumulated.sums)
    returned: dict[str, Text] = {}
    for engine, again in evidence.records(CALLED_AGAIN, CalledAgain).items():
        gradients = again.gradients
        returned[engine] = one_after_the_other(gradients)
        if all_equal(gradients):
            first = shown(unwrapped(gradients[0]))
            returned[engine] = message("tape_life.every_time", gradient=first)
    sums_of_both = {"one": after_one, "two": after_two}
    if returned:
        yield message(
            "tape_life.sums_and_returns", returned=_with_engines(returned), **sums_of_both
        )
    else:
        yield message("tape_life.sums_in_grad", **sums_of_both)


AFTER_CHANGE_IN_PLACE = ("wrong", "raises", "right")
"""What comes of a change in place, as ``correctness`` has it: the worst first."""


@TOPIC.finding()
def result_changed_in_place(evidence: Evidence) -> Iterator[Text]:
    """What each engine makes of a saved result that is changed in place: wrong gradients first."""
    truth = TRUE_IN_PLACE["result"]
    figures_by_outcome: dict[str, dict[str, str]] = {}
    for engine, figure in of_each(evidence[IN_PLACE], "result").items():
        outcome = correctness(figure, truth)
        # A right gradient is the same but for rounding, and is not shown.
        cell = shown(truth if outcome == "right" else figure)
        figures_by_outcome.setdefault(outcome, {})[engine] = cell
    outcomes: list[Text] = []
    for outcome in AFTER_CHANGE_IN_PLACE:
        for engines, figure in grouped(figures_by_outcome.get(outcome, {})):
            made = message(
                f"tape_life.in_place.{outcome}",
                parties=tuple(map(listed_party, engines)),
                figure=figure,
                truth=shown(truth),
            )
            outcomes.append(made)
    if outcomes:
        yield message("tape_life.changed_in_place", outcomes=tuple(outcomes))


@TOPIC.finding()
def order_of_hooks(evidence: Evidence) -> Iterator[Text]:
    """In which order each tape calls hooks of several kinds."""
    orders: dict[str, Text] = {}
    for engine, figures in evidence[HOOKS].items():
        if figures.get("order"):  # graphs have none
            kinds = [message("tape_life.quoted", kind=name_of(kind)) for kind in figures["order"]]
            orders[engine] = message("tape_life.hooks", kinds=tuple(kinds))
    if orders:
        yield message("tape_life.order_of_hooks", orders=_with_engines(orders))


@TOPIC.finding()
def one_tensor_as_both_arguments(evidence: Evidence) -> Iterator[Text]:
    """The gradient with respect to the first of two arguments that are one tensor."""
    gradients: dict[str, Text] = {}
    for engine, answers in evidence[ANSWERS].items():
        answer = answers["by a"]
        if not raised(answer):
            gradients[engine] = shown(only_leaf(answer))
    if gradients:
        yield message("tape_life.one_tensor_twice", gradients=_with_engines(gradients))


@TOPIC.finding()
def extra_output_moves_the_gradient(evidence: Evidence) -> Iterator[Text]:
    """How far the weight's gradient moves when an extra output is differentiated along."""
    moves: dict[str, Text] = {}
    for engine, ways in evidence[EXTRA_OUTPUT].items():
        moved = greatest_difference(ways["every output"], ways[FIRST_ALONE])
        moves[engine] = f"{moved:.3g}"
    if moves:
        yield message("tape_life.extra_output_moves", moves=_with_engines(moves))


def _with_engines(outcomes: Mapping[str, Text]) -> tuple[Text, ...]:
    """Each outcome with the engines that have it: "2 (PyTorch tape)", "3 (MindSpore tape)"."""
    listed: list[Text] = []
    for engines, outcome in grouped(outcomes):
        parties = tuple(map(listed_party, engines))
        listed.append(message("tape_life.outcome_of", outcome=outcome, parties=parties))
    return tuple(listed)


# Charts


KEPT = {"bytes": "tape_life.made", "own": "tape_life.own"}
"""What is kept at the end of the forward: the texts by the names of its figures."""


FAR_APART = 20
"""Engines whose peaks are more than this many times apart are drawn on a logarithmic axis.

On another one the lower line would lie on the axis.
"""


@TOPIC.chart()
def bytes_alive(evidence: Evidence) -> Iterator[Chart[Text]]:
    """The bytes kept for the backward, step by step."""
    lines: dict[str, Steps] = {}
    peaks: dict[str, float] = {}
    for engine, life in lives(evidence).items():
        moments, kept = bytes_over_time(life.steps)
        lines[engine] = (moments, kept)
        peaks[engine] = max(kept)
    if not lines:
        return

    is_logarithmic = _are_far_apart(peaks.values())
    series: list[Series[Text]] = []
    for engine, line in lines.items():
        moments_drawn, heights = without_zeros(line) if is_logarithmic else line
        series.append(Series(party(engine), moments_drawn, heights))
    yield Chart(
        name="bytes-alive",
        title=message("tape_life.alive_chart.title"),
        kind="steps",
        x=message("tape_life.alive_chart.x"),
        y=message("tape_life.alive_chart.y"),
        series=tuple(series),
        log=("y",) if is_logarithmic else (),
        note=message("tape_life.alive_chart.note", highest=_sizes(peaks)),
    )


def _sizes(sizes: Mapping[str, float]) -> tuple[Text, ...]:
    listed: list[Text] = []
    for engine, size in sizes.items():
        listed.append(message("tape_life.size_of", bytes=size, who=listed_party(engine)))
    return tuple(listed)


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


def bytes_over_time(steps: Sequence[Step]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The moments at which the bytes kept change, and the bytes from then on.

    Time runs from 0 to 1 through the forward and from 1 to 2 through the backward, so that engines
    whose operators differ in number lie above each other.
    """
    count = Counter(step.phase for step in steps)
    done: Counter[str] = Counter()
    moments = [0.0]
    kept = [0.0]
    for number, step in enumerate(steps, 1):
        phase = step.phase
        done[phase] += 1
        # The last step too, where nothing may change: every line is to end at 2.
        if step.bytes != kept[-1] or number == len(steps):
            start = 1 if phase == "backward" else 0
            moments.append(round(start + done[phase] / count[phase], 6))
            kept.append(float(step.bytes))
    return tuple(moments), tuple(kept)


@TOPIC.chart()
def kept_at_the_end_of_the_forward(evidence: Evidence) -> Iterator[Chart[Text]]:
    """Bars of the bytes kept when the forward has ended."""
    all_lives = lives(evidence)
    names = tuple(map(listed_party, all_lives))
    series: list[Series[Text]] = []
    notes: list[Text] = []
    for figure, name in KEPT.items():
        sizes: dict[str, float] = {}
        for engine, life in all_lives.items():
            sizes[engine] = getattr(life.after_forward, figure)
        series.append(Series(message(name), names, tuple(map(float, sizes.values()))))
        # In numbers too: beside a long bar a short one is hardly seen.
        notes.append(message(f"{name}.note", sizes=_sizes(sizes)))
    if all_lives:
        yield Chart(
            name="bytes-kept",
            title=message("tape_life.kept_chart.title"),
            kind="bars",
            x=message("tape_life.column.engine"),
            y=message("tape_life.column.bytes"),
            series=tuple(series),
            note=sentences(*notes),
        )
