"""Turns a node of a gradient graph into what its box says."""

import re
from collections.abc import Mapping
from typing import Final

from explorer.drawing.picture import PAD, SMALL_SIZE, TITLE_SIZE, Card, Role
from explorer.drawing.text import clean, fit, measure
from explorer.model.arrays import SMALL, Summary, unpack
from explorer.model.graph import GradGraph, Node
from explorer.text.numbers import digits

LONGEST: Final = 210.0
"""The widest a label's text gets before it ends in an ellipsis; the tooltip has it whole."""

SHOWN: Final = 6
WRITTEN: Final = 130.0
"""Values of at most SHOWN elements are written in the box when they measure at most WRITTEN; else
their norm is.
"""

BADGE: Final = 9.0
BADGE_PAD: Final = 6.0

QUIET: Final = frozenset({
    "alias", "as_strided", "asstrided", "broadcast_to", "broadcastto", "cast", "clone", "contiguous", "copy", "depend",
    "detach", "expand", "expand_dims", "expanddims", "flatten", "getitem", "identity", "load", "make_tuple", "maketuple",
    "permute", "reshape", "return", "shape", "squeeze", "stop_gradient", "stopgradient", "t", "tile", "to", "to_copy",
    "transpose", "tuple_getitem", "tuplegetitem", "tupletoarray", "unsafe_view", "unsqueeze", "updatestate", "view",
})  # fmt: skip
"""Operators that move or rename a value without computing one: drawn calmly."""

IDLE: Final = "did not run"
"""What the reason for a missing value says of a node in a branch that was not taken."""

ROLES: Final[dict[tuple[str, str], Role]] = {
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


def cards(graph: GradGraph, numbers: Mapping[str, int]) -> dict[str, Card]:
    """The card of every node, keyed by id; ``numbers`` are the pair numbers shared with another
    picture.
    """
    return {node.id: card(node, numbers.get(node.id)) for node in graph.nodes}


def card(node: Node, number: int | None = None) -> Card:
    """The card of one node: its texts cut to fit, its box sized to hold them."""
    role = role_of(node)
    size = title_size(role)
    title = fit(clean(_title(node)), size, LONGEST)
    shape = fit(clean(_shape(node)), SMALL_SIZE, LONGEST / 2)
    value = "" if role == "quiet" else fit(clean(_value(node)), SMALL_SIZE, LONGEST)
    badge = "" if number is None else str(number)
    first = measure(title, size) + (measure(shape, SMALL_SIZE) + 10 if shape else 0)
    badge_width = badge_size(badge) + 5 if badge else 0
    width = max(first, measure(value, SMALL_SIZE)) + 2 * PAD + badge_width
    return Card(
        id=node.id,
        role=role,
        title=title,
        shape=shape,
        value=value,
        badge=badge,
        idle=IDLE in node.missing.get("values", ""),
        alarm=any(output.values is not None and output.values.nonfinite for output in node.outputs),
        tooltip=tuple(clean(line) for line in _tooltip(node, number)),
        data=tuple((key, clean(text)) for key, text in _data(node, badge)),
        width=float(max(56, round(width + 0.5))),
        height=36.0 if value else 18.0 if role == "quiet" else 22.0,
    )


def title_size(role: Role) -> float:
    """The font size of a box's first line."""
    return SMALL_SIZE if role == "quiet" else TITLE_SIZE


def badge_size(badge: str) -> float:
    """The width of the pill that holds a pair number."""
    return max(14.0, measure(badge, BADGE) + BADGE_PAD)


def role_of(node: Node) -> Role:
    """How a node is drawn."""
    known = ROLES.get((node.kind, node.phase))
    if known:
        return known
    if bookkeeping(node.op):
        return "quiet"
    return "forward" if node.phase == "forward" else "backward"


def bookkeeping(op: str) -> bool:
    """Whether an operator only moves or renames its value: ``aten._unsafe_view.default``,
    ``TupleGetItem``.
    """
    return short(op).lower().strip("_") in QUIET


def short(op: str) -> str:
    """An operator's name without its namespace and overload: ``mul`` for ``aten.mul.Tensor``."""
    return re.sub(
        r"^(aten|prims|prim|ops|torch\.ops\.aten|PrimFunc)[._:]+(\w+)(\.\w+)?$", r"\2", op
    )


def _title(node: Node) -> str:
    return node.name if node.name and node.kind != "op" else short(node.op)


def _shape(node: Node) -> str:
    if not node.outputs:
        return ""
    first = "×".join(map(str, node.outputs[0].shape)) or "scalar"
    return f"{first} +{len(node.outputs) - 1}" if len(node.outputs) > 1 else first


def _value(node: Node) -> str:
    if len(node.outputs) != 1 or node.outputs[0].values is None:
        return ""
    summary = node.outputs[0].values
    size = _size(node.outputs[0].shape)
    if summary.nonfinite:
        return f"{summary.nonfinite} of {size} not finite"
    if summary.whole is not None and size <= SHOWN:
        written = digits(unpack(summary.whole), SHOWN)
        if measure(written, SMALL_SIZE) <= WRITTEN:
            return written
    return f"‖·‖ {summary.norm:.3g}"


def _size(shape: tuple[int, ...]) -> int:
    total = 1
    for length in shape:
        total *= length
    return total


def _tooltip(node: Node, number: int | None) -> list[str]:
    lines = [f"{node.op} · {node.id}", f"{node.kind}, {node.phase}"]
    lines += [f"name: {node.name}"] if node.name else []
    lines += [f"pair: {number}"] if number is not None else []
    lines += [f"scope: {node.scope}"] if node.scope else []
    lines += [f"source: {line}" for line in node.source[:3]]
    lines += [f"subgraph: {node.body}"] if node.body else []
    lines += [f"enters: {name}" for name in node.calls[:4]]
    lines += [f"derives from: {node.forward}"] if node.forward else []
    for index, output in enumerate(node.outputs[:4]):
        shape = ", ".join(map(str, output.shape))
        lines.append(f"output {index}: ({shape}) {output.dtype}{_statistics(output.values)}")
    lines += [f"saves {node.saved_bytes} bytes for backward"] if node.saved_bytes else []
    return lines + [f"no {key}: {reason}" for key, reason in sorted(node.missing.items())]


def _statistics(summary: Summary | None) -> str:
    if summary is None:
        return ""
    text = f" · μ {summary.mean:.5g} · ‖·‖ {summary.norm:.5g} · [{summary.minimum:.5g}, {summary.maximum:.5g}]"
    if summary.nonfinite:
        text += f" · {summary.nonfinite} not finite"
    if summary.whole is not None and _size(summary.whole.shape) <= min(SMALL, 4 * SHOWN):
        text += f" · {digits(unpack(summary.whole), 4 * SHOWN)}"
    return text


def _data(node: Node, badge: str) -> list[tuple[str, str]]:
    pairs = [
        ("op", node.op),
        ("kind", node.kind),
        ("phase", node.phase),
        ("scope", node.scope),
        ("forward", node.forward or ""),
    ]
    return [
        (key, text)
        for key, text in [
            *pairs,
            ("pair", badge),
            ("source", node.source[0] if node.source else ""),
        ]
        if text
    ]
