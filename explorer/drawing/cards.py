"""Turns each node of a gradient graph into the card that its box shows."""

import math
import re
from collections.abc import Mapping
from typing import Final

from explorer.drawing.label_text import fit, measure, printable
from explorer.drawing.picture import BoxRole, Card
from explorer.drawing.style import (
    BOX_HEIGHT,
    LABEL_SIZE,
    LEAST_BOX_WIDTH,
    PAD,
    QUIET_HEIGHT,
    SMALL_SIZE,
    TITLE_SIZE,
    VALUE_HEIGHT,
)
from explorer.drawing.tooltips import tooltip
from explorer.model.arrays import unpack
from explorer.model.graph import GradGraph, Node
from explorer.text.numbers import digits

WIDEST_LABEL: Final = 210.0
"""The greatest width of a text in a box, in points; a longer one is cut, not in the tooltip."""

MOST_ELEMENTS: Final = 6
"""Values of more elements than this are shown in a box by their norm."""

WIDEST_VALUE: Final = 130.0
"""Values that take more room than this, in points, are shown in a box by their norm."""

BEFORE_SHAPE: Final = 10.0
"""Room between a title and the shape behind it, in points."""

BADGE_SPACE: Final = 5.0
"""Room that a badge takes in a box beside its own width, in points."""

LEAST_BADGE_WIDTH: Final = 14.0
BADGE_ENDS: Final = 6.0
"""Room for both round ends of a badge, beside its digits, in points."""

QUIET: Final = frozenset({
    "alias", "as_strided", "asstrided", "broadcast_to", "broadcastto", "cast", "clone",
    "contiguous", "copy", "depend", "detach", "expand", "expand_dims", "expanddims", "flatten",
    "getitem", "identity", "load", "make_tuple", "maketuple", "permute", "reshape", "return",
    "shape", "squeeze", "stop_gradient", "stopgradient", "t", "tile", "to", "to_copy", "transpose",
    "tuple_getitem", "tuplegetitem", "tupletoarray", "unsafe_view", "unsqueeze", "updatestate",
    "view",
})  # fmt: skip
"""Operators that move or rename a value without computing one, in lower case: small white boxes."""

IDLE: Final = "did not run"
"""Part of the reason for a missing value, of a node in a branch that was not taken."""

BOX_ROLES: Final[dict[tuple[str, str], BoxRole]] = {
    ("input", "forward"): "leaf",
    ("parameter", "forward"): "leaf",
    ("constant", "forward"): "leaf",
    ("output", "forward"): "result",
    ("output", "backward"): "gradient",
    ("input", "backward"): "seed",
    ("parameter", "backward"): "seed",
    ("constant", "backward"): "seed",
    ("accumulate", "forward"): "accumulate",
    ("accumulate", "backward"): "accumulate",
    ("call", "forward"): "call",
    ("call", "backward"): "call-backward",
}
"""How a node of each kind and phase is drawn; of an operator it depends on what it computes."""

# aten.mul.Tensor, prims.convert_element_type, torch.ops.aten.view.default, PrimFunc_ReLU
_NAMESPACE = re.compile(r"^(aten|prims|prim|ops|torch\.ops\.aten|PrimFunc)[._:]+(\w+)(\.\w+)?$")


def cards(graph: GradGraph, numbers: Mapping[str, int]) -> dict[str, Card]:
    """The card of every node, keyed by id.

    ``numbers`` gives, by id, the number that a node shares with its pair in another picture.
    """
    return {node.id: card(node, numbers.get(node.id)) for node in graph.nodes}


def card(node: Node, pair_number: int | None = None) -> Card:
    """The card of one node: its texts cut to fit, its box sized to hold them."""
    role = role_of(node)
    badge = "" if pair_number is None else str(pair_number)
    # Names come from scenarios and frameworks: they are made printable before they are measured.
    title = fit(printable(_title(node)), title_size(role), WIDEST_LABEL)
    shape = fit(printable(_shape(node)), SMALL_SIZE, WIDEST_LABEL / 2)
    value = ""
    # An operator that only moves a value would repeat it.
    if role != "quiet":
        value = fit(printable(_value(node)), SMALL_SIZE, WIDEST_LABEL)
    return Card(
        id=node.id,
        role=role,
        title=title,
        shape=shape,
        value=value,
        badge=badge,
        idle=IDLE in node.missing.get("values", ""),
        alarm=_has_nonfinite(node),
        tooltip=tuple(printable(line) for line in tooltip(node, pair_number)),
        data=_data(node, badge),
        width=_width(role, title, shape, value, badge),
        height=_height(role, value),
    )


def label_lines(card: Card, between: str) -> list[str]:
    """A box as lines of text: its pair number, its title and its shape, then its value.

    ``between`` separates the three on the first line. For formats that do not place texts
    themselves.
    """
    badge = f"({card.badge})" if card.badge else ""
    words = [word for word in (badge, card.title, card.shape) if word]
    return [line for line in (between.join(words), card.value) if line]


def title_size(role: BoxRole) -> float:
    """The font size of a box's first line, in points."""
    return SMALL_SIZE if role == "quiet" else TITLE_SIZE


def badge_width(badge: str) -> float:
    """The width of the pill that holds a pair number, in points."""
    return max(LEAST_BADGE_WIDTH, measure(badge, LABEL_SIZE) + BADGE_ENDS)


def role_of(node: Node) -> BoxRole:
    """How a node is drawn."""
    role = BOX_ROLES.get((node.kind, node.phase))
    if role:
        return role
    if _only_moves_its_value(node.op):
        return "quiet"
    return node.phase


def short_name(op: str) -> str:
    """An operator's name without its namespace and overload: ``mul`` for ``aten.mul.Tensor``."""
    return _NAMESPACE.sub(r"\2", op)


def _only_moves_its_value(op: str) -> bool:
    """True of ``aten._unsafe_view.default`` and ``TupleGetItem``."""
    return short_name(op).lower().strip("_") in QUIET


def _has_nonfinite(node: Node) -> bool:
    return any(output.values is not None and output.values.nonfinite for output in node.outputs)


def _width(role: BoxRole, title: str, shape: str, value: str, badge: str) -> float:
    first_line = measure(title, title_size(role))
    if shape:
        first_line += measure(shape, SMALL_SIZE) + BEFORE_SHAPE
    width = max(first_line, measure(value, SMALL_SIZE)) + 2 * PAD
    if badge:
        width += badge_width(badge) + BADGE_SPACE
    # Whole points: a box's sides are then as sharp as can be on a screen.
    return float(max(LEAST_BOX_WIDTH, round(width + 0.5)))


def _height(role: BoxRole, value: str) -> float:
    if value:
        return VALUE_HEIGHT
    return QUIET_HEIGHT if role == "quiet" else BOX_HEIGHT


def _title(node: Node) -> str:
    return node.name if node.name and node.kind != "op" else short_name(node.op)


def _shape(node: Node) -> str:
    """The shape of the first output, and how many more there are: ``2×8 +1``."""
    if not node.outputs:
        return ""
    first = "×".join(map(str, node.outputs[0].shape)) or "scalar"
    more = len(node.outputs) - 1
    return f"{first} +{more}" if more else first


def _value(node: Node) -> str:
    if len(node.outputs) != 1 or node.outputs[0].values is None:
        return ""
    summary = node.outputs[0].values
    elements = math.prod(node.outputs[0].shape)
    # A reader looks for values that are not finite, so these go before everything else.
    if summary.nonfinite:
        return f"{summary.nonfinite} of {elements} not finite"
    if summary.whole is not None and elements <= MOST_ELEMENTS:
        written = digits(unpack(summary.whole), MOST_ELEMENTS)
        if measure(written, SMALL_SIZE) <= WIDEST_VALUE:
            return written
    return f"‖·‖ {summary.norm:.3g}"


def _data(node: Node, badge: str) -> tuple[tuple[str, str], ...]:
    """The data attributes by which programs find a node: names and values, without empty ones."""
    values = {
        "op": node.op,
        "kind": node.kind,
        "phase": node.phase,
        "scope": node.scope,
        "forward": node.forward or "",
        "pair": badge,
        "source": node.source[0] if node.source else "",
    }
    return tuple((name, printable(value)) for name, value in values.items() if value)
