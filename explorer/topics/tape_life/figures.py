"""What the figures of the tape's life say, for its findings, tables and claims."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from explorer.model.message import Text, message
from explorer.numeric.differences import greatest_difference
from explorer.text.messages import first_clause
from explorer.text.numbers import digits
from explorer.topics.attempts import raised
from explorer.topics.cells import named
from explorer.topics.evidence import Attempt, Evidence
from explorer.topics.question import Question
from explorer.topics.tape_life.questions import FREEING, LIFETIME

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


class Kept(msgspec.Struct, frozen=True, kw_only=True, rename={"own": "of inputs and parameters"}):
    """What is kept at a moment: tensors, the bytes of their storages, and those of inputs and parameters."""

    tensors: int
    bytes: int
    own: int


class Step(Kept, frozen=True, kw_only=True):
    """What is kept once an operator of a phase has run."""

    phase: str


class Alive(Kept, frozen=True, kw_only=True):
    """What is kept at a moment of a tape's life, and its nodes; None where they cannot be found."""

    nodes: int | None = None


class Life(msgspec.Struct, frozen=True):
    """What an engine keeps, step by step; how much each operator saves; the nodes of its tape."""

    steps: tuple[Step, ...]
    savers: dict[str, int] = {}
    nodes: tuple[str, ...] | None = None

    @property
    def after_forward(self) -> Step:
        """What is kept when the forward has ended: the last step of it."""
        return [step for step in self.steps if step.phase == "forward"][-1]

    @property
    def after_backward(self) -> Step:
        """What is kept when the backward has ended."""
        return self.steps[-1]


class Forward(Attempt, frozen=True, kw_only=True):
    """What one forward of MindSpore left: nodes of a tape and saved tensors, or what it raised.

    ``saved`` is None where nothing observes it: a compiled net saves without calling hooks (2.10.0).
    """

    nodes: int | None = None
    saved: int | None = None


class Recorded(msgspec.Struct, frozen=True):
    """What a forward of PyTorch recorded, and its gradient.

    Of what was made in inference mode only the gradient is looked at.
    """

    gradient: Any
    nodes: int | None = None
    saved: int | None = None


class SecondBackward(
    msgspec.Struct, frozen=True, rename={"grad": ".grad", "is_on_tape": ".grad is on a tape"}
):
    """What a second backward did, or raised; ``.grad`` after each, and whether it is on a tape."""

    second: Any
    grad: list[Any]
    is_on_tape: bool


class Accumulated(
    msgspec.Struct,
    frozen=True,
    rename={
        "sums": ".grad after each backward",
        "cleared": "zero_grad()",
        "zeroed": "zero_grad(set_to_none=False)",
    },
):
    """What ``.grad`` is after each backward, and after each way to zero it."""

    sums: list[Any]
    cleared: Any
    zeroed: Any = None


class CalledAgain(msgspec.Struct, frozen=True, rename={"in_weight": "weight.grad"}):
    """What each call of a gradient function returned, and the weight's ``.grad`` afterwards."""

    gradients: list[Any]
    in_weight: Any = None


class Reused(msgspec.Struct, frozen=True):
    """What one gradient function gave for each of some inputs."""

    callable: bool
    inputs: list[Any]
    gradients: list[Any]


class Compiled(msgspec.Struct, frozen=True):
    """The nodes of a compiled net's tape, and what a second backward through it did, or raised."""

    nodes: tuple[str, ...]
    second: Any


BY_ITSELF, INSIDE = "by itself", "inside a gradient"
"""How a forward of MindSpore is called."""

FIRST_ALONE = "first output alone"
"""The way to differentiate that an extra output is measured by."""


def lives(evidence: Evidence, question: Question = LIFETIME) -> dict[str, Life]:
    """What each engine keeps."""
    return evidence.records(question, Life)


def moments_of(evidence: Evidence, engine: str) -> dict[str, Alive]:
    """What is alive at each moment of a tape's life; empty where that was not measured."""
    return evidence.records(FREEING, dict[str, Alive]).get(engine, {})


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


def judged_in_place(figure: Any, name: str) -> Text:
    """A derivative after a change in place, with whether it is right; or why there is none."""
    return judged(figure, TRUE_IN_PLACE[name])


def judged(figure: Any, truth: Sequence[float]) -> Text:
    """A derivative with a closed form, with whether it is right; or why there is none."""
    outcome = correctness(figure, truth)
    if outcome == "raises":
        return refusal(figure)
    return message(f"tape_life.{outcome}", figure=shown(figure))


def unwrapped(gradient: Any) -> Any:
    """A gradient without the lists of length one around it."""
    while isinstance(gradient, list) and len(gradient) == 1:
        gradient = gradient[0]
    return gradient


def one_after_the_other(gradients: Sequence[Any]) -> Text:
    """Gradients in the order in which they were computed: "[2, 4, 6], then [4, 8, 12]"."""
    listed: Text = ""
    for gradient in gradients:
        figure = shown(unwrapped(gradient))
        listed = message("tape_life.then", first=listed, then=figure) if listed else figure
    return listed


def all_equal(gradients: Sequence[Any]) -> bool:
    """Whether every call gave what the first one gave."""
    return all(gradient == gradients[0] for gradient in gradients)


def forwards(figures: Mapping[str, Any]) -> dict[str, Forward]:
    """What one forward of MindSpore left, by how it was called."""
    # Beside them stands which of PyTorch's switches MindSpore has, as booleans.
    ways = {way: left for way, left in figures.items() if isinstance(left, dict)}
    return msgspec.convert(ways, dict[str, Forward])


def only_leaf(answer: Mapping[str, Any]) -> Any:
    """The numbers of an answer with one tensor; of an attempt that raised, itself."""
    return answer if raised(answer) else next(iter(answer.values()))


def left(forward: Forward) -> Text:
    """What one forward of MindSpore left: nodes and saved tensors, or why there is no figure."""
    if forward.nodes is None:
        return refused(forward)
    nodes = count("nodes", forward.nodes)
    if forward.saved is None:
        return message("tape_life.saved_unobserved", nodes=nodes)
    saved = count("saved_tensors", forward.saved)
    return message("tape_life.nodes_and_saved", nodes=nodes, saved=saved)


def refused(forward: Forward) -> str:
    """The type of what a forward raised and the beginning of why."""
    return f"{forward.raised}: {first_clause(forward.message)}"


def count(things: str, number: int) -> Text:
    """A number of things: "1 node", "2 nodes"."""
    return message(f"tape_life.{things}", n=number)


IN_WORDS = frozenset(
    {
        "by itself",
        "inside a gradient",
        "inside a gradient, under _no_grad",
        "after the forward",
        "after backward",
        "after backward, the outputs dropped",
        "after backward(retain_graph=True)",
        "after backward(retain_graph=True), the outputs dropped",
        "inside the call, after the forward",
        "after the call, the loss kept",
        "after the call, the loss dropped",
        "plain",
        "inference_mode, then on a tape",
        "every output",
        "extra output detached",
        "extra output stopped",
        "by a",
        "by b",
        "result",
        "operand",
        "tensor",
        "leaf",
        "module, before its backward",
        "module, after its backward",
        "leaf, before accumulation",
        "leaf, after accumulation",
        "input",
        "parameter",
    }
)
"""The names of figures that are words; all others are names of an API, which nobody translates."""


def name_of(figure: str) -> Text:
    """The name of a figure, as a reader has it."""
    return named("tape_life", figure, IN_WORDS)


def names_of(figures: Iterable[str]) -> tuple[Text, ...]:
    """The names of figures, as a reader has them."""
    return tuple(map(name_of, figures))
