"""All that is known of a node, as the panel of the graphs shows it."""

import math
from collections.abc import Iterator, Mapping

import msgspec

from explorer.model.arrays import Summary, unpack
from explorer.model.graph import Node, Output
from explorer.pair.heat_map import HeatMap, heat_map
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.text.numbers import digits
from explorer.words.graphs import why_missing

ELEMENTS = 36
"""An output of at most this many elements is written out beside its figures."""

SOURCE_LINES = 3
"""The number of places of a node's source that are shown, the user's first."""

MOST_OUTPUTS = 6
"""Outputs of a node that are shown."""

Fact = tuple[str, str]


class Forward(msgspec.Struct, frozen=True):
    """The forward node that a backward node derives from: its id in sight, and its title."""

    id: str
    title: str


class OutputDetail(msgspec.Struct, frozen=True):
    """One output: its shape and dtype, its figures, and its values as digits or as a heat map."""

    shape: str
    figures: str = ""
    values: str = ""
    map: HeatMap | None = None


class NodeDetail(msgspec.Struct, frozen=True):
    """A node's title, its facts under labels, the places of its source, and its outputs."""

    title: str
    facts: tuple[Fact, ...]
    source: tuple[str, ...]
    outputs: tuple[OutputDetail, ...]
    forward: Forward | None = None


def node_detail(
    node: Node, nodes: Mapping[str, Node], members: tuple[Node, ...] = ()
) -> NodeDetail:
    """The detail of one of the ``nodes`` in sight; ``members`` are those that it shows."""
    return NodeDetail(
        title=title(node),
        facts=tuple(_facts(node, members)),
        source=places(node),
        outputs=tuple(_output(output) for output in node.outputs[:MOST_OUTPUTS]),
        forward=_forward(node.forward, nodes),
    )


def title(node: Node) -> str:
    """What a node is called: its name, where it has one, and its operator."""
    if node.name and node.name != node.op:
        return clean(f"{node.name} · {node.op}")
    return clean(node.op)


def places(node: Node) -> tuple[str, ...]:
    """The places of a node's source that are shown."""
    return tuple(clean(place) for place in node.source[:SOURCE_LINES])


def _forward(id_: str | None, nodes: Mapping[str, Node]) -> Forward | None:
    forward = nodes.get(id_ or "")
    return Forward(forward.id, title(forward)) if forward else None


def _facts(node: Node, members: tuple[Node, ...]) -> Iterator[Fact]:
    phase = _("forward") if node.phase == "forward" else _("backward")
    yield (
        _("node"),
        _("{id}, {phase} {kind}, step {step}").format(
            id=node.id, phase=phase, kind=node.kind, step=node.order
        ),
    )
    if members:
        yield _("shows"), _("{n} nodes as one").format(n=len(members))
    if node.scope:
        yield _("module"), clean(node.scope)
    if node.tape:
        yield _("on the tape"), clean(node.tape)
    if node.body:
        yield _("subgraph"), clean(node.body)
    if node.saved_bytes:
        yield _("saves"), _("{n} bytes for backward").format(n=node.saved_bytes)
    if node.outputs and not members:
        yield _("value"), proof_text(node)
    for what, absence in sorted(node.missing.items()):
        if what != "proof":
            yield _("no {what}").format(what=what), clean(why_missing(absence))


def proof_text(node: Node) -> str:
    """Whether a node's value is proven, and why not where that is known."""
    texts = {
        "proven": _("proven: its op, computed again alone from the recorded inputs, gives it"),
        "refuted": _("refuted: its op, computed again from the recorded inputs, gives another one"),
        "unproven": _("not proven"),
        "": _("not computed again"),
    }
    absence = node.missing.get("proof")
    text = texts[node.proof]
    return f"{text} ({clean(why_missing(absence))})" if absence else text


def _output(output: Output) -> OutputDetail:
    shape = "×".join(map(str, output.shape)) or _("scalar")
    told = f"{shape} {clean(output.dtype)}"
    summary = output.values
    if summary is None:
        return OutputDetail(told)
    whole = None if summary.whole is None else unpack(summary.whole)
    if whole is not None and whole.size <= ELEMENTS:
        return OutputDetail(told, _figures(summary, output), digits(whole, ELEMENTS))
    is_drawn = whole is not None and whole.dtype.kind in "fciub"
    drawn = heat_map(whole) if whole is not None and is_drawn else None
    return OutputDetail(told, _figures(summary, output), map=drawn)


def _figures(values: Summary, output: Output) -> str:
    parts = []
    # The figures of a single number would say it four times more.
    if math.prod(output.shape) != 1:
        parts += [
            _("min {value}").format(value=f"{values.minimum:.5g}"),
            _("mean {value}").format(value=f"{values.mean:.5g}"),
            _("max {value}").format(value=f"{values.maximum:.5g}"),
            _("norm {value}").format(value=f"{values.norm:.5g}"),
        ]
    if values.zeros:
        parts.append(_("{n} zeros").format(n=values.zeros))
    if values.nonfinite:
        parts.append(_("{n} not finite").format(n=values.nonfinite))
    if output.noise:
        parts.append(_("noise {value}").format(value=f"{output.noise:.2g}"))
    return ", ".join(parts)
