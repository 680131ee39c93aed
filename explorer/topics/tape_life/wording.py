"""How the figures of the tape's life are put into words, in cells, findings and rulings."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from explorer.model.engines import ENGINES
from explorer.numeric.differences import greatest_difference
from explorer.text.messages import first_clause
from explorer.text.numbers import counted, digits
from explorer.topics.attempts import raised
from explorer.topics.evidence import EMPTY, Evidence
from explorer.topics.question import Question
from explorer.topics.tape_life.questions import COMPILED, FORWARD_ALONE, LIFETIME

TOLERANCE = 1e-5
"""How far two gradients may be apart to be the same.

Of a derivative with a closed form: as a share of that form's greatest element.
"""

TRUE_IN_PLACE: dict[str, list[float]] = {
    "result": [math.exp(x) for x in (0, 1, 2)],
    "operand": [0, 2, 4],
}
"""The derivatives of eˣ + 1 and of x² at [0, 1, 2].

These are right whatever is changed in place after the product was made.
"""


def figures_of(evidence: Evidence, question: Question, engine: str) -> Mapping[str, Any]:
    """What one engine said to a question; empty where it was not asked or did not answer."""
    return evidence[question].get(engine, {})


def shown(figure: Any) -> str:
    """Nested numbers in four digits; of an attempt that raised, the type and the first clause."""
    return refusal(figure) if raised(figure) else digits(figure, precision=4)


def refusal(figure: Mapping[str, Any]) -> str:
    """The type of what an attempt raised and the beginning of why."""
    return f"{figure['raised']}: {first_clause(figure['message'])}"


def correctness(figure: Any, truth: Sequence[float]) -> str:
    """Whether a derivative with a closed form is "right" or "wrong"; "raises" if it raised."""
    if raised(figure):
        return "raises"
    tolerance = TOLERANCE * max(map(abs, truth))
    return "right" if greatest_difference(figure, truth) < tolerance else "wrong"


def close(one: Any, other: Any) -> bool:
    """Whether two nested lists of numbers agree; what raised agrees with nothing."""
    if raised(one) or raised(other):
        return False
    return greatest_difference(one, other) <= TOLERANCE


def judged_in_place(figure: Any, name: str) -> str:
    """A derivative after a change in place, with whether it is right; or why there is none."""
    outcome = correctness(figure, TRUE_IN_PLACE[name])
    return refusal(figure) if outcome == "raises" else f"{outcome}, {shown(figure)}"


AFTER_CHANGE_IN_PLACE = {
    "wrong": "a wrong gradient without a message",
    "raises": "an error",
    "right": "the right gradient",
}
"""What comes of a change in place in words, by ``correctness``: the worst first."""


def after_change_in_place(figure: Any, name: str) -> tuple[str, str]:
    """One of AFTER_CHANGE_IN_PLACE, and what stands in brackets behind it; "" for nothing."""
    truth = TRUE_IN_PLACE[name]
    outcome = correctness(figure, truth)
    detail = ""
    if outcome == "wrong":
        detail = f"{shown(figure)} for {shown(truth)}"
    elif outcome == "raises":
        detail = refusal(figure)
    return AFTER_CHANGE_IN_PLACE[outcome], detail


def unwrapped(gradient: Any) -> Any:
    """A gradient without the lists of length one around it."""
    while isinstance(gradient, list) and len(gradient) == 1:
        gradient = gradient[0]
    return gradient


def one_after_the_other(gradients: Sequence[Any]) -> str:
    """Gradients in the order in which they were computed: "[2, 4, 6], then [4, 8, 12]"."""
    return ", then ".join(shown(unwrapped(gradient)) for gradient in gradients)


def all_equal(gradients: Sequence[Any]) -> bool:
    """Whether every call gave what the first one gave."""
    return all(gradient == gradients[0] for gradient in gradients)


def after_forward(life: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is kept when the forward has ended: the last step of it."""
    forward = [step for step in life["steps"] if step["phase"] == "forward"]
    last: Mapping[str, Any] = forward[-1]
    return last


def forwards(figures: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What one forward of MindSpore left, by how it was called; or what the attempt raised."""
    for way, left in figures.items():
        # Beside them stands which of PyTorch's switches MindSpore has, as booleans.
        if isinstance(left, dict):
            yield way, left


def left(forward: Mapping[str, Any]) -> str:
    """What one forward of MindSpore left: nodes and saved tensors, or why there is no figure."""
    if raised(forward):
        return refusal(forward)
    nodes = counted(forward["nodes"], "node")
    # Hooks on saved tensors are for tapes: a compiled net saves without calling them (2.10.0).
    if forward["saved"] is None:
        return f"{nodes}, and what it saved cannot be observed"
    return f"{nodes} and {counted(forward['saved'], 'saved tensor')}"


def kept_tensors(kept: Mapping[str, Any]) -> str:
    """A count of tensors with the bytes of their storages."""
    own = kept["of inputs and parameters"]
    tensors = counted(kept["tensors"], "tensor")
    return f"{tensors}: {kept['bytes']} bytes, and {own} of inputs and parameters"


def recorded_nodes(evidence: Evidence, engine: str) -> str:
    """How many nodes a forward leaves on a tape.

    Of the graph engines, where their graphs are run inside a gradient.
    """
    life = figures_of(evidence, LIFETIME, engine)
    if "nodes" in life:
        return counted(len(life["nodes"]), "node")
    compiled = figures_of(evidence, COMPILED, engine)
    if compiled:
        return f"{counted(len(compiled['nodes']), 'node')} for the whole compiled graph"
    alone = figures_of(evidence, FORWARD_ALONE, engine)
    if alone:
        return counted(alone["inside a gradient"]["nodes"], "node")
    return EMPTY


def named(works: Mapping[str, bool]) -> str:
    """The engines for which something works: "torch-tape and torch-graph"; "none" for none."""
    engines = [engine for engine, is_so in works.items() if is_so]
    return " and ".join(engines) or "none"


def label_in_a_list(engine: str) -> str:
    """The name of an engine among others: without a comma, since it stands in lists."""
    return ENGINES[engine].label.replace(",", "")
