"""Rows of the catalogue: one callable in each framework, its operands and its arguments."""

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
"""A row's callables: functions, layers, or operators as they are in graphs."""

Mode = Literal["train", "eval"]

Compared = Literal["gradients", "values", "sets"]
"""What was compared where a row was checked: all values and gradients, values alone, or their set."""

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


class Operand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tensor that a function or layer takes, by the name that each framework has for it.

    ``shape`` has sizes by number or by a letter, the same for all operands of a row ("n 4 h w"), or
    the quotient of a number and an argument ("4/groups"). A list of tensors has ``count`` of them.
    """

    names: dict[Framework, str]
    shape: str
    drawn: Drawn = "normal"
    below: int = 0
    count: int = 0
    is_optional: bool = False

    def name(self, framework: Framework) -> str:
        """What a framework calls it."""
        return self.names[framework]


class Side(msgspec.Struct, frozen=True):
    """An argument in one framework.

    One that lacks it has no name; its default is then the value that it acts as, or UNKNOWN.
    """

    name: str = ""
    default: Default = UNKNOWN


class Argument(msgspec.Struct, frozen=True):
    """An argument in each framework, and how its value becomes PyTorch's.

    ``ways`` name the transformations (ways.py) that are not "same". ``values`` are those of
    MindSpore's with which the row was checked, for which ``only_if`` names another argument and the
    value that it must have.
    """

    sides: dict[Framework, Side]
    ways: dict[Framework, str] = {}
    values: tuple[Value, ...] = ()
    only_if: tuple[str, Value] | None = None

    def name(self, framework: Framework) -> str:
        """What a framework calls it; empty where it lacks it."""
        return self.sides[framework].name if framework in self.sides else ""

    def default(self, framework: Framework) -> Default:
        """Its default in a framework, or what one that lacks it acts as."""
        return self.sides[framework].default if framework in self.sides else UNKNOWN

    def way(self, framework: Framework = "mindspore") -> str:
        """The transformation between a framework's value and PyTorch's."""
        return self.ways.get(framework, "same")


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a row is in one framework.

    ``alike`` are other callables with PyTorch's names and defaults, compared by signature. ``graph``
    names the operators of the framework's graphs; where these call arguments otherwise than the
    callable does, ``graph_arguments`` has its names for theirs, and is None of one framework whose
    graphs use them as they are. ``writes`` is what a user writes for such an operator, ``weights`` what
    the framework calls the parameters of a layer.
    """

    call: str
    alike: tuple[str, ...] = ()
    graph: tuple[str, ...] = ()
    graph_arguments: dict[str, str] = {}
    writes: str = ""
    weights: tuple[str, ...] = ()


PAGES: dict[Framework, str] = {
    "mindspore": "https://www.mindspore.cn/docs/en/master/api_python/{package}/mindspore.{call}.html",
    "torch": "https://docs.pytorch.org/docs/stable/generated/{call}.html",
}
"""Where a framework documents a callable."""

ATEN_PAGE = "https://docs.pytorch.org/docs/stable/torch.compiler_ir.html"
"""Where PyTorch documents the operators of its graphs."""


class Row(msgspec.Struct, frozen=True):
    """Callables of several frameworks that compute the same, a column for each.

    ``unmatched`` are arguments without influence on the values, or that the row does not translate.
    ``modes`` are those in which a layer was checked; of random masks the set of values was
    ``compared``. ``facts`` are names of facts that the arguments do not show.
    """

    kind: Kind
    family: str
    columns: dict[Framework, Column]
    operands: tuple[Operand, ...]
    arguments: tuple[Argument, ...] = ()
    unmatched: tuple[str, ...] = ()
    modes: tuple[Mode, ...] = ("eval",)
    compared: Compared = "gradients"
    facts: tuple[str, ...] = ()

    def name(self, framework: Framework) -> str:
        """The callable of one framework; empty where it has none."""
        return self.columns[framework].call if framework in self.columns else ""

    def page(self, framework: Framework) -> str:
        """The page of the framework's documentation."""
        if framework == "torch" and self.kind == "operator":
            return ATEN_PAGE
        call = self.name(framework)
        return PAGES[framework].format(call=call, package=call.partition(".")[0])
