"""Findings about the tape's life, in sentences.

What is about the scenario comes first; what is true of any net comes second, each fact once.
"""

from collections.abc import Iterator, Mapping

from explorer.numeric.differences import greatest_difference
from explorer.text.numbers import counted
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence, grouped
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
    LIFETIME,
    SECOND_BACKWARD,
    SECOND_BACKWARD_OF_LITTLE,
    TOPIC,
)
from explorer.topics.tape_life.tables import only_leaf
from explorer.topics.tape_life.wording import (
    AFTER_CHANGE_IN_PLACE,
    after_change_in_place,
    after_forward,
    all_equal,
    forwards,
    label_in_a_list,
    left,
    one_after_the_other,
    refusal,
    shown,
    unwrapped,
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
def kept_for_the_backward(evidence: Evidence) -> Iterator[str]:
    """How many bytes each engine keeps for the backward, the least first, and what outlives it."""
    lives = evidence[LIFETIME]
    kept = {engine: after_forward(life) for engine, life in lives.items()}
    by_bytes = sorted(kept, key=lambda engine: int(kept[engine]["bytes"]))
    clauses = []
    for engine in by_bytes:
        size = f"{kept[engine]['bytes']:,} bytes, {counted(kept[engine]['tensors'], 'tensor')}"
        clauses.append(f"{size} ({label_in_a_list(engine)})")
    if clauses:
        yield (
            f"{_scenario(evidence)} keeps for its backward: {'; '.join(clauses)}. Inputs and"
            " parameters are among the tensors, and not in the bytes."
        )

    staying: dict[str, str] = {}
    for engine, life in lives.items():
        tensors = life["steps"][-1]["tensors"]
        staying[engine] = counted(tensors, "tensor") if tensors else "nothing"
    if staying:
        yield (
            "Of these it keeps, once the gradients are there and no output is held:"
            f" {_with_engines(staying)}."
        )


@TOPIC.finding()
def recorded_on_a_tape(evidence: Evidence) -> Iterator[str]:
    """How many nodes a forward leaves on each tape, and under the compiler."""
    nodes = {}
    for engine, life in evidence[LIFETIME].items():
        if "nodes" in life:
            nodes[engine] = counted(len(life["nodes"]), "node")
    for engine, figures in evidence[COMPILED].items():
        nodes[engine] = f"{counted(len(figures['nodes']), 'node')} for the whole under a compiler"
    if nodes:
        yield f"Its forward leaves on a tape: {_with_engines(nodes)}."


@TOPIC.finding(FREEING.by("torch-tape"))
def freed_by_pytorch(evidence: Evidence) -> Iterator[str]:
    """When PyTorch's tape lets go of saved tensors and of nodes."""
    moments = evidence[FREEING]["torch-tape"]
    kept, freed, retained = (moments[moment] for moment in PYTORCHS_MOMENTS)
    yield (
        f"PyTorch's tape frees {kept['tensors'] - freed['tensors']} of"
        f" {counted(kept['tensors'], 'saved tensor')} in the backward, with retain_graph=True"
        f" {kept['tensors'] - retained['tensors']}; {freed['nodes']} of"
        f" {counted(kept['nodes'], 'node')} stay while the outputs live."
    )


@TOPIC.finding(FREEING.by("mindspore-tape"))
def freed_by_mindspore(evidence: Evidence) -> Iterator[str]:
    """When MindSpore's tape lets go of saved tensors and of nodes."""
    moments = evidence[FREEING]["mindspore-tape"]
    inside, kept, dropped = (moments[moment] for moment in MINDSPORES_MOMENTS)
    yield (
        f"MindSpore's tape frees {inside['tensors'] - kept['tensors']} of"
        f" {counted(inside['tensors'], 'saved tensor')} when the gradient function returns; as long"
        f" as the loss is held, {kept['nodes']} of {counted(inside['nodes'], 'node')} and"
        f" {counted(kept['tensors'], 'tensor')} stay, without it {counted(dropped['tensors'], 'tensor')}."
    )


@TOPIC.finding(FORWARD_ALONE.by("mindspore-tape"))
def left_by_one_forward(evidence: Evidence) -> Iterator[str]:
    """What one forward of MindSpore's tape leaves, by how it is called."""
    clauses = []
    for way, forward in forwards(evidence[FORWARD_ALONE]["mindspore-tape"]):
        clauses.append(f"{way}: {left(forward)}")
    yield f"What one forward leaves on MindSpore's tape: {'; '.join(clauses)}."


# In general: on nets of the study's own, whatever scenario is looked at


IN_GENERAL = "In general:"
"""The beginning of what is found on the study's own nets."""


@TOPIC.finding(SECOND_BACKWARD)
def backward_twice(evidence: Evidence) -> Iterator[str]:
    """What a second backward through PyTorch's tape does, by the options of the first."""
    outcomes: dict[str, str] = {}
    for way, figures in evidence[SECOND_BACKWARD]["torch-tape"].items():
        second = figures["second"]
        outcomes[way] = f"raises {refusal(second)}" if raised(second) else "runs"
    clauses = []
    for ways, outcome in grouped(outcomes):
        clauses.append(f"{outcome} ({', '.join(ways)})")
    yield (
        f"{IN_GENERAL} a second backward through PyTorch's tape, by how the first was called,"
        f" {'; '.join(clauses)}."
    )


@TOPIC.finding(SECOND_BACKWARD_OF_LITTLE)
def backward_twice_where_little_was_saved(evidence: Evidence) -> Iterator[str]:
    """What a second backward does where nothing, or only a part, was saved."""
    figures = evidence[SECOND_BACKWARD_OF_LITTLE]["torch-tape"]
    plain, mixed = figures["x + 1"], figures["exp(x) + y + 1"]
    plain_outcome = "raises" if raised(plain["second"]) else "runs"
    mixed_outcome = "raises" if raised(mixed["second"]) else "runs"
    yield (
        f"{IN_GENERAL} where nothing was saved (x + 1) that second backward {plain_outcome}, and"
        f" .grad is {shown(plain['.grad'])}; where only one part needs what is gone it"
        f" {mixed_outcome}, and the other part's .grad is {shown(mixed['y.grad'])} by then."
    )


@TOPIC.finding(ACCUMULATION)
def sums_in_grad(evidence: Evidence) -> Iterator[str]:
    """What PyTorch's ``.grad`` adds up, and what the others return."""
    sums = evidence[ACCUMULATION]["torch-tape"][".grad after each backward"]
    after_one, after_two = (shown(unwrapped(gradient)) for gradient in sums)
    returned: dict[str, str] = {}
    for engine, again in evidence[CALLED_AGAIN].items():
        gradients = again["gradients"]
        if all_equal(gradients):
            returned[engine] = f"{shown(unwrapped(gradients[0]))} every time"
        else:
            returned[engine] = one_after_the_other(gradients)
    finding = (
        f"{IN_GENERAL} PyTorch's .grad is {after_one} after one backward and {after_two} after two"
    )
    if returned:
        finding += f"; gradients that are returned are {_with_engines(returned)}"
    yield f"{finding}."


@TOPIC.finding()
def result_changed_in_place(evidence: Evidence) -> Iterator[str]:
    """What each engine makes of a saved result that is changed in place: wrong gradients first."""
    outcomes: dict[str, tuple[str, str]] = {}
    for engine, changed in evidence[IN_PLACE].items():
        outcomes[engine] = after_change_in_place(changed["result"], "result")
    clauses = []
    for outcome in AFTER_CHANGE_IN_PLACE.values():
        alike = {engine: detail for engine, (made, detail) in outcomes.items() if made == outcome}
        for engines, detail in grouped(alike):
            clause = f"{outcome} in {', '.join(map(label_in_a_list, engines))}"
            clauses.append(f"{clause} ({detail})" if detail else clause)
    if clauses:
        yield (
            f"{IN_GENERAL} changing the result of exp in place before its backward gives"
            f" {'; '.join(clauses)}."
        )


@TOPIC.finding()
def order_of_hooks(evidence: Evidence) -> Iterator[str]:
    """In which order each tape calls hooks of several kinds."""
    orders: dict[str, str] = {}
    for engine, figures in evidence[HOOKS].items():
        if figures.get("order"):  # graphs have none
            orders[engine] = ", ".join(f"“{kind}”" for kind in figures["order"])
    if orders:
        yield f"{IN_GENERAL} hooks are called in the order {_with_engines(orders)}."


@TOPIC.finding()
def one_tensor_as_both_arguments(evidence: Evidence) -> Iterator[str]:
    """The gradient with respect to the first of two arguments that are one tensor."""
    gradients: dict[str, str] = {}
    for engine, answers in evidence[ANSWERS].items():
        answer = answers["by a"]
        if not raised(answer):
            gradients[engine] = shown(only_leaf(answer))
    if gradients:
        yield (
            f"{IN_GENERAL} one tensor passed as both arguments has, by the first of them, the"
            f" gradient {_with_engines(gradients)}."
        )


@TOPIC.finding()
def extra_output_moves_the_gradient(evidence: Evidence) -> Iterator[str]:
    """How far the weight's gradient moves when an extra output is differentiated along."""
    moves: dict[str, str] = {}
    for engine, ways in evidence[EXTRA_OUTPUT].items():
        moved = greatest_difference(ways["every output"], ways["first output alone"])
        moves[engine] = f"{moved:.3g}"
    if moves:
        yield (
            f"{IN_GENERAL} an extra output that is differentiated along moves the weight's gradient"
            f" by up to {_with_engines(moves)}."
        )


def _scenario(evidence: Evidence) -> str:
    return evidence.target.name or "The net"


def _with_engines(outcomes: Mapping[str, str]) -> str:
    """Each outcome with the engines that have it: "2 (PyTorch tape); 3 (MindSpore tape)"."""
    groups = grouped(outcomes)
    return "; ".join(
        f"{outcome} ({', '.join(map(label_in_a_list, engines))})" for engines, outcome in groups
    )
