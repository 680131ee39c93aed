"""A node that was clicked, and the node that it is paired with on the other side."""

from collections.abc import Iterator
from typing import get_args

import streamlit as st

from explorer.model.alignment import Alignment, SideName
from explorer.model.arrays import Summary, unpack
from explorer.model.graph import GradGraph, Node
from explorer.report.markdown import escape
from explorer.text.clean import clean
from explorer.text.numbers import digits

ELEMENTS = 36
"""An output of at most this many elements is written out beside its figures."""

HOW = {
    "name": "a name that both engines give",
    "value": "a value that nothing else has",
    "value+provenance": "equal values, and where they come from",
    "value+order": "equal values, and the order of execution",
    "transposed": "the same numbers, transposed",
    "reordered": "the same numbers in another order",
    "provenance": "where they come from; the value itself does not tell",
    "across": "the same value, computed in the other phase",
}


def node_detail(
    chosen: tuple[str, str] | None, left: GradGraph, right: GradGraph, alignment: Alignment | None
) -> None:
    """Both nodes in two columns; why there is no second one where there is none."""
    sides: dict[SideName, dict[str, Node]] = {"left": left.by_id(), "right": right.by_id()}
    side = next((name for name in get_args(SideName) if chosen and chosen[0] == name), None)
    if not chosen or side is None or chosen[1] not in sides[side]:
        st.caption(
            "Click a node for its values, its source line, and the node that holds the same quantity on the other side."
        )
        return
    ids = {side: chosen[1], **_partner(alignment, side, chosen[1])}
    for column, name in zip(st.columns(2), sides, strict=True):
        with column.container(border=True):
            if name in ids:
                _node(sides[name][ids[name]])
            else:
                st.caption(escape(_alone(alignment, side, chosen[1])))


def _partner(alignment: Alignment | None, side: SideName, node: str) -> dict[SideName, str]:
    other: SideName = "right" if side == "left" else "left"
    pair = (
        next((pair for pair in alignment.pairs if node in pair.members(side)), None)
        if alignment
        else None
    )
    if pair is None:
        return {}
    step = getattr(pair, side) != node
    said = (
        "a step that one op of the other side takes inside itself"
        if step
        else f"recognised by {HOW[pair.how]}"
    )
    st.markdown(f"Pair {pair.number}, {said}.")
    return {other: getattr(pair, other)}


def _alone(alignment: Alignment | None, side: SideName, node: str) -> str:
    if alignment is None:
        return "There are no pairs here: they join two engines' graphs of what was run."
    why = next(
        (each for each in alignment.unpaired if (each.side, each.node) == (side, node)), None
    )
    return "No node here is its pair." + (
        clean(f" {why.reason.capitalize()}: {why.detail}.") if why else ""
    )


def _node(node: Node) -> None:
    title = f"{node.name} · {node.op}" if node.name and node.name != node.op else node.op
    st.markdown(f"**{escape(clean(title))}**")
    facts = [(label, clean(text)) for label, text in _facts(node)]
    st.code("\n".join(f"{label:<9} {text}" for label, text in facts), language=None)


def _facts(node: Node) -> Iterator[tuple[str, str]]:
    yield "node", f"{node.id}, {node.phase} {node.kind}, step {node.order}"
    if node.scope:
        yield "module", node.scope
    for index, line in enumerate(node.source[:3]):
        yield ("" if index else "source"), line
    if node.forward:
        yield "backward", f"of {node.forward}"
    for output in node.outputs:
        yield "output", f"{'×'.join(map(str, output.shape)) or 'scalar'} {output.dtype}"
        if output.values:
            yield from _values(output.values)
    if node.saved_bytes:
        yield "saves", f"{node.saved_bytes} bytes for backward"
    yield from ((f"no {what}", why) for what, why in sorted(node.missing.items()))


def _values(values: Summary) -> Iterator[tuple[str, str]]:
    if values.whole is not None:
        yield "values", digits(unpack(values.whole), ELEMENTS)
    if values.whole is None or values.whole.shape:
        yield (
            "",
            f"min {values.minimum:.5g}, mean {values.mean:.5g}, max {values.maximum:.5g}, norm {values.norm:.5g}",
        )
    if values.nonfinite:
        yield "", f"{values.nonfinite} not finite"
