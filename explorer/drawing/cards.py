"""The card of each node of a gradient graph: what its box shows, and its tooltip."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from explorer.drawing.label_text import fit, fit_between, fit_name, measure, printable
from explorer.drawing.marks import PLAIN, Mark, Marks
from explorer.drawing.picture import BoxRole, Card
from explorer.drawing.style import (
    BOX_HEIGHT,
    LABEL_SIZE,
    LEAST_BOX_WIDTH,
    LINE_HEIGHT,
    PAD,
    QUIET_HEIGHT,
    SMALL_SIZE,
    TITLE_SIZE,
    VALUE_HEIGHT,
)
from explorer.model.arrays import unpack
from explorer.model.graph import Absence, GradGraph, Node, Output
from explorer.operators.families import BOOKKEEPING, family
from explorer.text.arguments import arguments_text, main_arguments
from explorer.text.language import _, later
from explorer.text.numbers import counted, digits
from explorer.words.graphs import what_is_missing, why_missing

# Tooltips

MOST_SOURCES: Final = 3
MOST_SUBGRAPHS: Final = 4
MOST_OUTPUTS: Final = 4
MOST_MEMBERS: Final = 12
MOST_TOOLTIP_ELEMENTS: Final = 24
"""Values of more elements than this are not written out."""


def tooltip(node: Node, mark: Mark) -> list[str]:
    """The lines of a node's tooltip."""
    lines = _name_lines(node, mark)
    main = main_arguments(node.op, node.arguments)
    if main:
        lines.append(_("arguments: {arguments}").format(arguments=arguments_text(main)))
    for source in node.source[:MOST_SOURCES]:
        lines.append(_("source: {line}").format(line=source))
    if node.body:
        lines.append(_("subgraph: {name}").format(name=node.body))
    for name in node.calls[:MOST_SUBGRAPHS]:
        lines.append(_("enters: {name}").format(name=name))
    if node.forward:
        lines.append(_("derives from: {node}").format(node=node.forward))
    for index, output in enumerate(node.outputs[:MOST_OUTPUTS]):
        shape = ", ".join(map(str, output.shape))
        text = _("output {index}: ({shape}) {dtype}").format(
            index=index, shape=shape, dtype=output.dtype
        )
        lines.append(text + _statistics(output))
    if node.saved_bytes:
        one, several = _("saves 1 byte for backward"), _("saves {n} bytes for backward")
        text = one if node.saved_bytes == 1 else several
        lines.append(text.format(n=node.saved_bytes))
    lines += _member_lines(node, mark)
    if node.proof:
        lines.append(_("proof: {proof}").format(proof=_(node.proof)))
    for name, absence in sorted(node.missing.items()):
        text = _("{what}: {values}")
        lines.append(text.format(what=what_is_missing(name), values=why_missing(absence)))
    return lines


def _name_lines(node: Node, mark: Mark) -> list[str]:
    """What a node is, what it is called, and what it is paired with."""
    what = _("{kind}, {phase}").format(kind=_(node.kind), phase=_(node.phase))
    op, name = node.op, node.name
    if mark.is_module and not node.scope:
        merged = _merged_title(node, len(mark.members))
        if name:
            name = merged
        else:
            op = merged
    lines = [f"{op} · {node.id}", what]
    if name:
        lines.append(_("name: {name}").format(name=name))
    if mark.diverges:
        lines.append(_("the first divergence lies here"))
    if mark.number is not None:
        lines.append(_("pair: {number}").format(number=mark.number))
    if node.scope:
        lines.append(_("scope: {path}").format(path=node.scope))
    if mark.layer:
        lines.append(_("layer: {layer}").format(layer=mark.layer))
    return lines


def _member_lines(node: Node, mark: Mark) -> list[str]:
    """What a node shows beside itself, or instead of itself."""
    others = [member for member in mark.members if mark.is_module or member.id != node.id]
    lines = []
    for member in others[:MOST_MEMBERS]:
        shape = ""
        if member.outputs:
            shape = ", ".join(map(str, member.outputs[0].shape))
        lines.append(f"{_(member.kind)} {member.name or member.op} ({shape}) · {member.id}")
    if len(others) > MOST_MEMBERS:
        lines.append(_("and {n} more").format(n=len(others) - MOST_MEMBERS))
    return lines


def _statistics(output: Output) -> str:
    summary = output.values
    if summary is None:
        return ""
    extremes = f"[{summary.minimum:.5g}, {summary.maximum:.5g}]"
    text = f" · μ {summary.mean:.5g} · ‖·‖ {summary.norm:.5g} · {extremes}"
    if summary.nonfinite:
        text += " · " + _("{n} not finite").format(n=summary.nonfinite)
    if summary.whole is not None and math.prod(summary.whole.shape) <= MOST_TOOLTIP_ELEMENTS:
        text += f" · {digits(unpack(summary.whole), MOST_TOOLTIP_ELEMENTS)}"
    return text


# Cards

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

QUIET: Final = BOOKKEEPING - {"fill"}
"""Families of operators that move or rename a value without making one: small white boxes."""

DIVERGENCE_SIGN: Final = "≠"
"""Marks the first divergence in formats without a place for a mark of its own."""

FitTitle = Callable[[str, float, float], str]
"""Cuts a text of a font size to a width."""

FOLDED_TITLES: Final = {
    "parameter": later("{n} parameters"),
    "output": later("{n} gradients"),
}
"""The titles of cards that stand for several leaves, by their kind."""

WHOLE_PHASES: Final = (later("net"), later("net, backward"))
"""What the forward and the backward are called that are merged whole."""

IDLE: Final = Absence("branch_not_run")
"""Why the value of a node in a branch that was not taken is missing."""

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


def cards(graph: GradGraph, marks: Marks) -> dict[str, Card]:
    """The card of every node, keyed by id; ``marks`` are by id too."""
    made = {node.id: card(node, marks.get(node.id, PLAIN)) for node in graph.nodes}
    names_by_title: defaultdict[str, set[str]] = defaultdict(set)
    for node in graph.nodes:
        names_by_title[made[node.id].title].add(_title(node, marks.get(node.id, PLAIN)))
    for node in graph.nodes:
        # Names that end alike show where they begin, too.
        if len(names_by_title[made[node.id].title]) > 1:
            made[node.id] = card(node, marks.get(node.id, PLAIN), fit_between)
    return made


def card(node: Node, mark: Mark = PLAIN, fit_title: FitTitle | None = None) -> Card:
    """The card of one node: its texts cut to fit, its box sized to hold them.

    ``fit_title`` cuts the title; by default it is cut as befits the node.
    """
    role = role_of(node)
    badge = ""
    if mark.number is not None:
        badge = str(mark.number)
    # Names come from scenarios and frameworks: they are made printable before they are measured.
    fit_title = fit_title or _fit_title(node, mark)
    title = fit_title(printable(_title(node, mark)), title_size(role), WIDEST_LABEL)
    shape = fit(printable(_shape(node, mark)), SMALL_SIZE, WIDEST_LABEL / 2)
    value = ""
    # An operator that only moves a value would repeat it.
    if role != "quiet":
        value = fit(printable(_value(node, mark)), SMALL_SIZE, WIDEST_LABEL)
    moves = fit(printable(_moves(mark)), SMALL_SIZE, WIDEST_LABEL)
    return Card(
        id=node.id,
        role=role,
        title=title,
        shape=shape,
        value=value,
        badge=badge,
        idle=node.missing.get("values") == IDLE,
        alarm=_has_nonfinite(node),
        refuted=node.proof == "refuted",
        diverges=mark.diverges,
        moves=moves,
        tooltip=tuple(map(printable, tooltip(node, mark))),
        data=_data(node, badge),
        width=_width(role, title, shape, (value, moves), badge),
        height=_height(role, (value, moves)),
    )


def label_lines(card: Card, between: str) -> list[str]:
    """A box as lines of text: its marks, its title and its shape, then its value and its state.

    ``between`` separates the parts of the first line. For formats that do not place texts
    themselves.
    """
    words = [card.title, card.shape]
    if card.badge:
        words.insert(0, f"({card.badge})")
    if card.diverges:
        words.insert(0, DIVERGENCE_SIGN)
    first_line = between.join(filter(None, words))
    return list(filter(None, (first_line, card.value, card.moves)))


def title_size(role: BoxRole) -> float:
    """The font size of a box's first line, in points."""
    return SMALL_SIZE if role == "quiet" else TITLE_SIZE


def badge_width(badge: str) -> float:
    """The width of the pill that holds a pair number, in points."""
    return max(LEAST_BADGE_WIDTH, measure(badge, LABEL_SIZE) + BADGE_ENDS)


def role_of(node: Node) -> BoxRole:
    """How a node is drawn."""
    role = BOX_ROLES.get((node.kind, node.phase))
    if role == "gradient" and node.forward is None:
        return "result"  # a buffer that backward has changed
    if role:
        return role
    if family(node.op) in QUIET:
        return "quiet"
    return node.phase


def short_name(op: str) -> str:
    """An operator's name without its namespace and overload: ``mul`` for ``aten.mul.Tensor``."""
    return _NAMESPACE.sub(r"\2", op)


def _has_nonfinite(node: Node) -> bool:
    return any(output.values is not None and output.values.nonfinite for output in node.outputs)


def _width(role: BoxRole, title: str, shape: str, lines: tuple[str, str], badge: str) -> float:
    first_line = measure(title, title_size(role))
    if shape:
        first_line += measure(shape, SMALL_SIZE) + BEFORE_SHAPE
    value, moves = lines
    widest = max(first_line, measure(value, SMALL_SIZE), measure(moves, SMALL_SIZE))
    width = widest + 2 * PAD
    if badge:
        width += badge_width(badge) + BADGE_SPACE
    # Whole points: a box's sides are then as sharp as can be on a screen.
    return float(max(LEAST_BOX_WIDTH, round(width + 0.5)))


def _height(role: BoxRole, lines: tuple[str, str]) -> float:
    further = len(list(filter(None, lines)))
    if further:
        return VALUE_HEIGHT + (further - 1) * LINE_HEIGHT
    if role == "quiet":
        return QUIET_HEIGHT
    return BOX_HEIGHT


def _fit_title(node: Node, mark: Mark) -> FitTitle:
    """How the title of a node is cut where it is too long."""
    if node.kind == "output" and node.phase == "backward":
        return partial(fit_name, head="d" if node.name.startswith("d") else "")
    if node.kind in ("parameter", "output") or mark.is_module:
        return fit_name
    return fit


def _title(node: Node, mark: Mark) -> str:
    if mark.is_module and not node.scope:
        return _merged_title(node, len(mark.members))
    if node.name and node.kind != "op":
        return node.name
    return short_name(node.op)


def _merged_title(node: Node, count: int) -> str:
    """The title of a card for several leaves, for a whole phase, or for a stretch of operators."""
    # The record of the merged node has it in English, which programs read.
    if node.kind in FOLDED_TITLES:
        return _(FOLDED_TITLES[node.kind]).format(n=count)
    if node.op == counted(count, "operator"):
        return _("{n} operators").format(n=count)
    if node.op in WHOLE_PHASES:
        return _(node.op)
    return node.op


def _shape(node: Node, mark: Mark) -> str:
    """The shape of the first output, and how many more there are: ``2×8 +1``.

    Of a card that stands for several leaves, how many numbers these have: ``1,024 in all``.
    """
    if mark.is_module and node.kind != "call":
        total = 0
        for member in mark.members:
            total += sum(math.prod(output.shape) for output in member.outputs)
        return _("{n} in all").format(n=f"{total:,}")
    if not node.outputs:
        return ""
    first = "×".join(map(str, node.outputs[0].shape)) or _("scalar")
    more = len(node.outputs) - 1
    return f"{first} +{more}" if more else first


def _value(node: Node, mark: Mark) -> str:
    if mark.is_module and node.kind != "call":
        return _module_and_names(mark.members)
    if node.proof == "refuted":
        return _("refuted: {value}").format(value=_numbers(node))
    return _numbers(node)


def _moves(mark: Mark) -> str:
    """The states that an operator moves: ``moves running_mean, running_var``."""
    if mark.is_module:
        return ""
    states = [member for member in mark.members if member.kind == "output"]
    if not states:
        return ""
    return _("moves {names}").format(names=", ".join(_shared_path(states)[1]))


def _module_and_names(nodes: Sequence[Node]) -> str:
    """The module of leaves, and their names in it: ``fc: weight, bias``."""
    path, names = _shared_path(nodes)
    together = ", ".join(names)
    return f"{path}: {together}" if path else together


def _shared_path(nodes: Sequence[Node]) -> tuple[str, list[str]]:
    """The path that all names begin with, and the names without it."""
    names = [node.name for node in nodes]
    path = "".join(names[:1])
    while path and not all(name.startswith(f"{path}.") for name in names):
        path = path.rpartition(".")[0]
    if not path:
        return "", names
    return path, [name.removeprefix(f"{path}.") for name in names]


def _numbers(node: Node) -> str:
    if len(node.outputs) != 1 or node.outputs[0].values is None:
        return ""
    summary = node.outputs[0].values
    elements = math.prod(node.outputs[0].shape)
    # A reader looks for values that are not finite, so these go before everything else.
    if summary.nonfinite:
        return _("{n} of {total} not finite").format(n=summary.nonfinite, total=elements)
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
        "source": "".join(node.source[:1]),
    }
    return tuple((name, printable(value)) for name, value in values.items() if value)
