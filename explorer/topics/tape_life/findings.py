"""Findings about the tape's life, in sentences and in charts."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.engines import ENGINES
from explorer.model.study import Chart, Series
from explorer.numeric.differences import greatest_difference
from explorer.text.numbers import counted
from explorer.topics.attempts import raised
from explorer.topics.evidence import EMPTY, Evidence, grouped
from explorer.topics.tape_life.questions import (
    ACCUMULATION,
    ANSWERS,
    CALLED_AGAIN,
    EXTRA_OUTPUT,
    FORWARD_ALONE,
    FREEING,
    HOOKS,
    IN_PLACE,
    LIFETIME,
    SECOND_BACKWARD,
    SECOND_BACKWARD_OF_LITTLE,
    TOPIC,
)
from explorer.topics.tape_life.tables import only_leaf
from explorer.topics.tape_life.wording import (
    TRUE_IN_PLACE,
    after_forward,
    forwards,
    judged_in_place,
    kept_tensors,
    left,
    one_after_the_other,
    recorded_nodes,
    refusal,
    shown,
    unwrapped,
)


@TOPIC.finding()
def kept_for_the_backward(evidence: Evidence) -> Iterator[str]:
    """What each engine's forward records and keeps, and how much of it outlives the backward."""
    for engine, life in evidence[LIFETIME].items():
        nodes = recorded_nodes(evidence, engine)
        # A graph engine has no tape of its own; what its graph leaves may not have been measured.
        tape = "" if nodes == EMPTY else f" leaves {nodes} on a tape and"
        kept = kept_tensors(after_forward(life))
        left = life["steps"][-1]["tensors"]
        yield (
            f"{ENGINES[engine].label}: the forward{tape} keeps {kept} for the backward; {left}"
            " outlive it."
        )


@TOPIC.finding()
def alive_at_each_moment(evidence: Evidence) -> Iterator[str]:
    """How many nodes and tensors of each tape are alive at each moment."""
    for engine, moments in evidence[FREEING].items():
        clauses = []
        for moment, alive in moments.items():
            nodes, tensors = counted(alive["nodes"], "node"), counted(alive["tensors"], "tensor")
            clauses.append(f"{moment} {nodes} and {tensors}")
        yield f"{ENGINES[engine].label}, alive: {'; '.join(clauses)}."


@TOPIC.finding(SECOND_BACKWARD)
def backward_twice(evidence: Evidence) -> Iterator[str]:
    """What a second backward through PyTorch's tape does, by the options of the first."""
    clauses = []
    for way, figures in evidence[SECOND_BACKWARD]["torch-tape"].items():
        second = figures["second"]
        clauses.append(f"{way}: {refusal(second) if raised(second) else second}")
    yield f"A second backward through PyTorch's tape. {'; '.join(clauses)}."


@TOPIC.finding(SECOND_BACKWARD_OF_LITTLE)
def backward_twice_where_little_was_saved(evidence: Evidence) -> Iterator[str]:
    """What a second backward does where nothing, or only a part, was saved."""
    figures = evidence[SECOND_BACKWARD_OF_LITTLE]["torch-tape"]
    plain, mixed = figures["x + 1"], figures["exp(x) + y + 1"]
    plain_outcome = "raises" if raised(plain["second"]) else "runs"
    mixed_outcome = "raises" if raised(mixed["second"]) else "runs"
    yield (
        f"Where nothing was saved (x + 1) a second backward {plain_outcome} and .grad is"
        f" {shown(plain['.grad'])}; where only a part needs what is gone it {mixed_outcome}, and"
        f" the other part's .grad is {shown(mixed['y.grad'])} by then."
    )


@TOPIC.finding(ACCUMULATION)
def sums_in_grad(evidence: Evidence) -> Iterator[str]:
    """What PyTorch's ``.grad`` adds up, and what the others return."""
    sums = evidence[ACCUMULATION]["torch-tape"][".grad after each backward"]
    after_one, after_two = (shown(unwrapped(gradient)) for gradient in sums)
    returned = []
    for engine, again in evidence[CALLED_AGAIN].items():
        returned.append(
            f"{ENGINES[engine].label} returns {one_after_the_other(again['gradients'])}"
        )
    yield (
        f"PyTorch's .grad is {after_one} after one backward and {after_two} after two."
        f" {'; '.join(returned)}."
    )


@TOPIC.finding()
def left_by_one_forward(evidence: Evidence) -> Iterator[str]:
    """What one forward of MindSpore leaves, by how it is called."""
    for engine, figures in evidence[FORWARD_ALONE].items():
        clauses = [f"{way} {left(forward)}" for way, forward in forwards(figures)]
        yield f"{ENGINES[engine].label}, left by one forward: {'; '.join(clauses)}."


@TOPIC.finding()
def result_changed_in_place(evidence: Evidence) -> Iterator[str]:
    """The derivative where the saved result of exp is changed in place."""
    outcomes: dict[str, str] = {}
    for engine, changed in evidence[IN_PLACE].items():
        outcomes[ENGINES[engine].label] = judged_in_place(changed["result"], "result")
    if outcomes:
        truth = shown(TRUE_IN_PLACE["result"])
        yield (
            f"With the result of exp changed in place before the backward, {truth} is the truth:"
            f" {_with_engines(outcomes)}."
        )


@TOPIC.finding()
def order_of_hooks(evidence: Evidence) -> Iterator[str]:
    """In which order each tape calls hooks of several kinds."""
    orders = []
    for engine, figures in evidence[HOOKS].items():
        if figures.get("order"):  # graphs have none
            kinds = ", ".join(f"“{kind}”" for kind in figures["order"])
            orders.append(f"{kinds} ({ENGINES[engine].label})")
    if orders:
        yield f"Hooks are called in this order: {'; '.join(orders)}."


@TOPIC.finding()
def one_tensor_as_both_arguments(evidence: Evidence) -> Iterator[str]:
    """The gradient with respect to the first of two arguments that are one tensor."""
    gradients: dict[str, str] = {}
    for engine, answers in evidence[ANSWERS].items():
        answer = answers["by a"]
        if not raised(answer):
            gradients[ENGINES[engine].label] = shown(only_leaf(answer))
    if gradients:
        yield (
            "One tensor passed as both arguments, differentiated by the first:"
            f" {_with_engines(gradients)}."
        )


@TOPIC.finding()
def extra_output_moves_the_gradient(evidence: Evidence) -> Iterator[str]:
    """How far the weight's gradient moves when an extra output is differentiated along."""
    moves: dict[str, str] = {}
    for engine, ways in evidence[EXTRA_OUTPUT].items():
        moved = greatest_difference(ways["every output"], ways["first output alone"])
        moves[ENGINES[engine].label] = f"{moved:.3g}"
    if moves:
        yield (
            "Differentiating an extra output along moves the weight's gradient by up to"
            f" {_with_engines(moves)}."
        )


def _with_engines(outcomes: Mapping[str, str]) -> str:
    """Each outcome with the engines that have it: "2 (PyTorch, tape); 3 (MindSpore, tape)"."""
    groups = grouped(outcomes)
    return "; ".join(f"{outcome} ({', '.join(engines)})" for engines, outcome in groups)


# Charts


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
