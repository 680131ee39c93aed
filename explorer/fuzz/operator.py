"""What an operator of a random net is: its text in both frameworks, and which operands it takes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

Shape = tuple[int, ...]

Options = dict[str, str]
"""The texts that stand for ``{axis}`` and the like in an operator's text."""

Fit = Callable[[Sequence[Shape], Random], tuple[Shape, Options] | None]
"""The shape of the result and the options for operands of some shapes; None where they do not fit."""

Bound = Callable[[Sequence[float], Shape], float]
"""How large the result may be, from the operands' bounds and the first one's shape."""

LARGEST = 64
"""The most elements that a tensor of a random net has."""

HIGHEST_RANK = 4


@dataclass(frozen=True)
class Operator:
    """One way to make a tensor of one, two or three others.

    ``mindspore`` and ``torch`` are expressions in which ``{0}`` is the first operand; one that is to be
    a statement assigns to ``{out}``. They keep clear of poles and of the borders of domains: what a
    framework makes of log(0) is another question.
    """

    name: str
    mindspore: str
    torch: str
    arity: int
    fit: Fit
    bound: Bound


def size(shape: Shape) -> int:
    """The number of elements."""
    product = 1
    for length in shape:
        product *= length
    return product


def drawn_axis(shape: Shape, rng: Random) -> int:
    """An axis, by its number from the front or from the back."""
    axis = rng.randrange(len(shape))
    return axis - len(shape) if rng.random() < 0.3 else axis


def without(shape: Shape, axis: int, keep: bool) -> Shape:
    """The shape after a reduction along an axis."""
    axis %= len(shape)
    return (*shape[:axis], *((1,) if keep else ()), *shape[axis + 1 :])


def broadcast(shapes: Sequence[Shape]) -> Shape | None:
    """The shape to which shapes are broadcast; None where they are not."""
    result: list[int] = []
    longest = max(map(len, shapes))
    for place in range(1, longest + 1):
        lengths = {shape[-place] for shape in shapes if place <= len(shape)} - {1}
        if len(lengths) > 1:
            return None
        result.insert(0, lengths.pop() if lengths else 1)
    return tuple(result)
