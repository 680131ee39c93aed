"""The operators of random nets, of operators.toml: their texts in each framework, and what they take."""

import re
from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from explorer.fuzz import shapes
from explorer.fuzz.shapes import Fit, Shape, size
from explorer.model.engines import FRAMEWORKS, Framework
from explorer.operators.table import function_of

Bound = Callable[[Sequence[float], Shape], float]
"""How large the result may be, from the operands' bounds and the first one's shape."""

BOUNDS: dict[str, Bound] = {
    "greatest": lambda bounds, _: max(bounds),
    "sum": lambda bounds, _: sum(bounds),
    "times": lambda bounds, _: bounds[0] * bounds[-1],
    "with_product": lambda bounds, _: bounds[0] + bounds[1] * bounds[2],
    "squared": lambda bounds, _: (bounds[0] + bounds[-1]) ** 2,
    "cubed": lambda bounds, _: float(bounds[0] ** 3),
    "doubled": lambda bounds, _: 2 * bounds[0] + 2,
    "thrice_the_second": lambda bounds, _: 3 * bounds[1],
    "added_up": lambda bounds, shape: bounds[0] * size(shape),
    "products": lambda bounds, shape: (
        bounds[0] * bounds[1] * (shape[-1] if shape else 1) + bounds[-1]
    ),
}
"""The rules for bounds, by name."""


@dataclass(frozen=True)
class Operator:
    """One way to make a tensor of one, two or three others.

    ``texts`` has an expression for each framework that has the operator, in which ``{0}`` is the
    first operand; a statement assigns to ``{out}``. ``needs`` names the definition (see DEFINITIONS)
    that comes before the net.
    """

    name: str
    texts: Mapping[Framework, str]
    arity: int
    fit: Fit
    bound: Bound
    needs: str = ""

    def is_in(self, frameworks: Iterable[Framework]) -> bool:
        """Whether each of these frameworks has the operator."""
        return all(framework in self.texts for framework in frameworks)


Entry = dict[Literal["text", "fit", "bound", "needs"] | Framework, str | int]
"""An operator as it is written: "text", "fit", "bound", "needs", and frameworks' own texts."""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    operators: dict[str, str | Entry]
    definitions: dict[str, dict[Framework, str]]
    openings: dict[Framework, str]


_FILE = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=_File)

DEFINITIONS = _FILE.definitions
"""The layers and functions that stand before a net, by the name that an operator needs, in each framework."""

OPENINGS = _FILE.openings
"""The imports with which a net begins."""

MODULES: dict[Framework, str] = {"mindspore": "ops.", "torch": "torch.", "jax": "jnp."}
"""Where a framework has its functions of tensors."""


def _operator(name: str, written: str | Entry) -> Operator:
    entry: Entry = {"text": written} if isinstance(written, str) else written
    text = str(entry["text"])
    # A name of shapes.py, or a call of one with numbers: "along(2)".
    fit_name, is_call, numbers = str(entry.get("fit", "same")).removesuffix(")").partition("(")
    fit = getattr(shapes, fit_name)
    texts = {it: str(entry.get(it, _written_in(it, text))) for it in FRAMEWORKS}
    bound = entry.get("bound", "greatest")
    return Operator(
        name,
        {framework: own for framework, own in texts.items() if own},
        len(set(re.findall(r"\{\d\}", text))),
        fit(*literal_eval(f"[{numbers}]")) if is_call else fit,
        BOUNDS[bound] if isinstance(bound, str) else lambda _, __: bound,
        str(entry.get("needs", "")),
    )


def _written_in(framework: Framework, text: str) -> str:
    """A text of MindSpore's with each function as the catalogue calls it in a framework."""

    def called(function: re.Match[str]) -> str:
        row = function_of("mindspore", function[0])
        call = row.name(framework) if row else ""
        # Nets import PyTorch's functions of layers by this name.
        return (call or MODULES[framework] + function[1]).replace(
            "torch.nn.functional", "functional"
        )

    return re.sub(r"\bops\.(\w+)", called, text)


OPERATORS = {name: _operator(name, written) for name, written in _FILE.operators.items()}
"""Every operator by its name."""
