"""Rows of the table of correspondences: two callables, their operands and their arguments."""

import enum
from typing import Literal, Union

import msgspec

from explorer.model.engines import Framework

Value = Union[  # noqa: UP007  # it is recursive: "Value" in quotes is a name
    None, bool, int, float, str, tuple["Value", ...]
]
"""A value of an argument."""


class Absent(enum.Enum):
    """Why an argument has no default."""

    REQUIRED = "required"
    UNKNOWN = "unknown"


REQUIRED, UNKNOWN = Absent.REQUIRED, Absent.UNKNOWN

Default = Value | Absent

Kind = Literal["function", "layer", "operator"]

Drawn = Literal[
    "normal",
    "positive",
    "unit",
    "distinct",
    "ones",
    "logarithms",
    "probabilities",
    "factors",
    "targets",
    "signs",
    "indices",
    "mask",
]
"""How the numbers of an operand are drawn where a row is checked.

``positive`` is 0.2 to 3, ``unit`` 0.05 to 0.95, ``distinct`` a permutation of numbers that are
clearly apart, ``logarithms`` are those of probabilities over the last axis. What follows is not
differentiated: ``probabilities``, ``factors`` from 0.2 to 3, ``targets`` 0.05 to
0.95, ``signs`` -1 or 1, ``indices`` below
``Operand.below``.
"""


CONSTANTS: frozenset[Drawn] = frozenset(
    {"probabilities", "factors", "targets", "signs", "indices", "mask"}
)
"""What is not differentiated with respect to."""


class Operand(msgspec.Struct, frozen=True):
    """A tensor that a function or layer takes.

    ``shape`` has sizes by number or by a letter, the same for all operands of a row ("n 4 h w"), or
    the quotient of a number and an argument ("4/groups"). A list of tensors has ``count`` of them.
    """

    mindspore: str
    torch: str
    shape: str
    drawn: Drawn = "normal"
    below: int = 0
    count: int = 0
    is_optional: bool = False

    def name(self, framework: Framework) -> str:
        """What a framework calls it."""
        return self.mindspore if framework == "mindspore" else self.torch


class Argument(msgspec.Struct, frozen=True):
    """An argument of either side, and how its value becomes the other's.

    A side that lacks it has no name; its default is then the value that it acts as, or UNKNOWN.
    ``way`` names the transformation (ways.py). ``values`` are those of MindSpore's with which the
    row was checked, for which ``only_if`` names another argument and the value that it must have.
    """

    mindspore: str
    torch: str
    mindspore_default: Default
    torch_default: Default
    way: str = "same"
    values: tuple[Value, ...] = ()
    only_if: tuple[str, Value] | None = None

    def name(self, framework: Framework) -> str:
        """What a framework calls it; empty where it lacks it."""
        return self.mindspore if framework == "mindspore" else self.torch

    def default(self, framework: Framework) -> Default:
        """Its default on one side, or what a side that lacks it acts as."""
        return self.mindspore_default if framework == "mindspore" else self.torch_default


class Row(msgspec.Struct, frozen=True):
    """A callable of MindSpore and one of PyTorch that compute the same.

    ``alike`` are callables of MindSpore with PyTorch's names and defaults, compared by signature.
    ``primitives`` and ``aten`` name the operators of the graphs. ``unmatched`` are arguments of
    either side without influence on the values, or that the table does not translate. ``modes``
    are those in which a layer was checked. ``compared`` says what was compared: all values and
    gradients, values alone, or the set of values (of random masks). ``facts`` are names of facts
    that the arguments do not show. ``weights`` are what MindSpore calls the parameters of a layer.
    """

    family: str
    mindspore: str
    torch: str
    operands: tuple[Operand, ...]
    arguments: tuple[Argument, ...] = ()
    alike: tuple[str, ...] = ()
    primitives: tuple[str, ...] = ()
    aten: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    modes: tuple[Literal["train", "eval"], ...] = ("eval",)
    compared: Literal["gradients", "values", "sets"] = "gradients"
    facts: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """Whether it is a function, a layer, or an operator of graphs."""
        if self.torch.startswith("aten."):
            return "operator"
        last = self.torch.rpartition(".")[2]
        return "layer" if last[:1].isupper() else "function"

    def name(self, framework: Framework) -> str:
        """The callable of one framework."""
        return self.mindspore if framework == "mindspore" else self.torch

    def page(self, framework: Framework) -> str:
        """The page of the framework's documentation."""
        if framework == "torch" and self.kind == "operator":
            return "https://docs.pytorch.org/docs/stable/torch.compiler_ir.html"
        if framework == "torch":
            return f"https://docs.pytorch.org/docs/stable/generated/{self.torch}.html"
        package = self.mindspore.partition(".")[0]
        folder = "https://www.mindspore.cn/docs/en/master/api_python"
        return f"{folder}/{package}/mindspore.{self.mindspore}.html"
