"""GradCase: one question to ask of a net, and the full matrix of them."""

from itertools import combinations, product
from typing import Literal, TypeAlias

import msgspec

Api = Literal["grad", "value_and_grad", "GradOperation"]
Weights = Literal["one", "all"]
Position: TypeAlias = "int | tuple[int, ...] | None"
Tree: TypeAlias = "str | tuple[Tree, ...]"
"""Names of tensors, nested as a call returns them: ``("dx", ("logits",))`` is a gradient beside a 1-tuple."""

ALL_TUPLES_UP_TO = 3
"""Nets with more inputs than this are asked for single positions and the full tuple only: tuples grow as 2**n."""


class GradCase(msgspec.Struct, frozen=True, omit_defaults=True):
    """One way to ask for a gradient, in MindSpore's terms.

    ``api`` "grad" and "value_and_grad" take ``grad_position``, ``weights`` (one Parameter, all of them, or none) and ``has_aux``.
    "GradOperation" is the older form: its ``get_all``, ``get_by_list`` and ``sens_param`` are given, and ``grad_position`` and
    ``weights`` say what they amount to. ``order`` n > 1 nests the call n times at one int position.
    """

    api: Api
    grad_position: int | tuple[int, ...] | None = None
    weights: Weights | None = None
    has_aux: bool = False
    order: int = 1
    get_all: bool = False
    get_by_list: bool = False
    sens_param: bool = False

    @property
    def label(self) -> str:
        """The call as a reader would write it; unique and stable."""
        if self.api == "GradOperation":
            flags = ", ".join(f"{name}={getattr(self, name)}" for name in ("get_all", "get_by_list", "sens_param"))
            return f"GradOperation({flags})(net{', weights' if self.get_by_list else ''})"
        if self.order > 1:
            return f"{'grad(' * self.order}net{f', {self.grad_position})' * self.order}"
        return f"{self.api}(net, grad_position={self.grad_position}, weights={self.weights}, has_aux={self.has_aux})"

    @property
    def positions(self) -> tuple[int, ...]:
        """The inputs differentiated, as a tuple whatever the form of ``grad_position``."""
        return (self.grad_position,) if isinstance(self.grad_position, int) else self.grad_position or ()

    @property
    def must_fail(self) -> bool:
        """True when nothing is asked for: no position and no weights."""
        return not self.positions and self.weights is None


def matrix(inputs: int, has_parameters: bool, order: int = 1) -> tuple[GradCase, ...]:
    """Every case of a net with ``inputs`` inputs; without parameters there are no ``weights`` to ask for.

    ``order`` n adds, for each input, the call nested 2, …, n times.
    """
    weights: tuple[Weights | None, ...] = (None, "one", "all") if has_parameters else (None,)
    apis: tuple[Api, ...] = ("grad", "value_and_grad")
    cases = [GradCase(*row) for row in product(apis, positions(inputs), weights, (False, True))]
    cases += [
        _operation(inputs, *flags)
        for flags in product((False, True), (False, True) if has_parameters else (False,), (False, True))
    ]
    cases += [GradCase("grad", index, order=n) for n in range(2, order + 1) for index in range(inputs)]
    return tuple(cases)


def positions(inputs: int) -> tuple[Position, ...]:
    """None, every int, and the tuples of increasing ints (all of them up to three inputs; beyond, 1-tuples and the full one)."""
    every = range(inputs)
    sizes = range(1, inputs + 1) if inputs <= ALL_TUPLES_UP_TO else (1, inputs)
    return (None, *every, *(group for size in sizes for group in combinations(every, size)))


def _operation(inputs: int, get_all: bool, get_by_list: bool, sens_param: bool) -> GradCase:
    position: Position = tuple(range(inputs)) if get_all else None if get_by_list else 0
    return GradCase(
        "GradOperation",
        position,
        "all" if get_by_list else None,
        get_all=get_all,
        get_by_list=get_by_list,
        sens_param=sens_param,
    )


def structure(case: GradCase, inputs: tuple[str, ...], parameters: tuple[str, ...], outputs: tuple[str, ...]) -> Tree:
    """The nested names of what MindSpore 2.10 returns for a case, by the rules of its API pages.

    An int position and a 1-tuple of ``grad`` both come back bare; ``GradOperation(get_all=True)`` always gives a tuple.
    A bare output is a str in ``outputs`` of length one. Checked against both MindSpore engines by the tests.
    """
    by_input = tuple(f"d{inputs[index]}" for index in case.positions)
    by_weight = tuple(f"d{name}" for name in parameters)
    parts: list[Tree] = []
    if by_input:
        bare = len(by_input) == 1 and not case.get_all
        parts.append(by_input[0] if bare else by_input)
    if case.weights:
        parts.append(by_weight[0] if case.weights == "one" else by_weight)
    gradient: Tree = parts[0] if len(parts) == 1 else tuple(parts)
    if case.api == "value_and_grad":
        return (outputs[0] if len(outputs) == 1 else outputs, gradient)
    return (gradient, outputs[1:]) if case.has_aux else gradient


def flatten(tree: Tree) -> tuple[str, ...]:
    """The names of a tree from left to right."""
    return (tree,) if isinstance(tree, str) else tuple(name for item in tree for name in flatten(item))


def render(tree: Tree) -> str:
    """A tree as Python writes it: ``(dx, (logits,))``."""
    if isinstance(tree, str):
        return tree
    return "(" + ", ".join(map(render, tree)) + ("," if len(tree) == 1 else "") + ")"
