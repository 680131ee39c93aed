"""What the figures of the tape's life say, for its findings, tables and claims."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from explorer.model.message import Text, message
from explorer.numeric.differences import greatest_difference
from explorer.text.messages import first_clause
from explorer.text.numbers import digits
from explorer.topics.attempts import raised
from explorer.topics.cells import named
from explorer.topics.evidence import Evidence
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


def lives(evidence: Evidence, question: Question = LIFETIME) -> dict[str, Life]:
    """What each engine keeps."""
    answers = evidence[question]
    return {engine: msgspec.convert(figures, Life) for engine, figures in answers.items()}


def moments_of(evidence: Evidence, engine: str) -> dict[str, Alive]:
    """What is alive at each moment of a tape's life."""
    return msgspec.convert(figures_of(evidence, FREEING, engine), dict[str, Alive])


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


def forwards(figures: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What one forward of MindSpore left, by how it was called; or what the attempt raised."""
    for way, left in figures.items():
        # Beside them stands which of PyTorch's switches MindSpore has, as booleans.
        if isinstance(left, dict):
            yield way, left


def only_leaf(answer: Mapping[str, Any]) -> Any:
    """The numbers of an answer with one tensor; of an attempt that raised, itself."""
    return answer if raised(answer) else next(iter(answer.values()))


def left(forward: Mapping[str, Any]) -> Text:
    """What one forward of MindSpore left: nodes and saved tensors, or why there is no figure."""
    if raised(forward):
        return refusal(forward)
    nodes = count("nodes", forward["nodes"])
    # Hooks on saved tensors are for tapes: a compiled net saves without calling them (2.10.0).
    if forward["saved"] is None:
        return message("tape_life.saved_unobserved", nodes=nodes)
    return message(
        "tape_life.nodes_and_saved", nodes=nodes, saved=count("saved_tensors", forward["saved"])
    )


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
