"""A node that was clicked, and the node that it is paired with on the other side."""

from collections.abc import Iterator

import streamlit as st

from explorer.model.alignment import Alignment, How, Pair, SideName
from explorer.model.arrays import Summary, unpack
from explorer.model.graph import GradGraph, Node, Output
from explorer.report.markdown import escape
from explorer.text.clean import clean
from explorer.text.numbers import digits

ELEMENTS = 36
"""An output of at most this many elements is written out beside its figures."""

SOURCE_LINES = 3
"""The number of lines of a node's source that are shown, the user's first."""

OTHER: dict[SideName, SideName] = {"left": "right", "right": "left"}

EVIDENCE: dict[How, str] = {
    "name": "a name that both engines give",
    "value": "a value that nothing else has",
    "value+provenance": "equal values, and where they come from",
    "value+order": "equal values, and the order of execution",
    "transposed": "the same numbers, transposed",
    "reordered": "the same numbers in another order",
    "provenance": "where they come from; the value itself does not tell",
    "across": "the same value, computed in the other phase",
}
"""By what a pair is recognised."""


def node_detail(
    chosen: tuple[SideName, str] | None,
    left: GradGraph,
    right: GradGraph,
    alignment: Alignment | None,
) -> None:
    """Both nodes in two columns; why there is no second one where there is none."""
    nodes: dict[SideName, dict[str, Node]] = {"left": left.by_id(), "right": right.by_id()}
    # What was chosen may belong to the graphs of a moment ago.
    if chosen is None or chosen[1] not in nodes[chosen[0]]:
        st.caption(
            "Click a node for its values, its source line, "
            "and the node that holds the same quantity on the other side."
        )
        return
    side, node = chosen
    shown: dict[SideName, Node] = {side: nodes[side][node]}
    pair = _pair(alignment, side, node)
    if pair:
        _evidence(pair, is_step=getattr(pair, side) != node)
        partner = getattr(pair, OTHER[side])
        shown[OTHER[side]] = nodes[OTHER[side]][partner]
    for column, name in zip(st.columns(2), nodes, strict=True):
        with column.container(border=True):
            if name in shown:
                _node(shown[name])
            else:
                st.caption(escape(_reason(alignment, side, node)))


def _pair(alignment: Alignment | None, side: SideName, node: str) -> Pair | None:
    for pair in alignment.pairs if alignment else ():
        if node in pair.members(side):
            return pair
    return None


def _evidence(pair: Pair, is_step: bool) -> None:
    evidence = f"recognised by {EVIDENCE[pair.how]}"
    if is_step:
        evidence = "a step that one op of the other side takes inside itself"
    st.markdown(f"Pair {pair.number}, {evidence}.")


def _reason(alignment: Alignment | None, side: SideName, node: str) -> str:
    """Why a node has no partner."""
    if alignment is None:
        return "There are no pairs here: they join two engines' graphs of what was run."
    for unpaired in alignment.unpaired:
        if (unpaired.side, unpaired.node) == (side, node):
            reason = clean(f"{unpaired.reason.capitalize()}: {unpaired.detail}.")
            return f"No node here is its pair. {reason}"
    return "No node here is its pair."


def _node(node: Node) -> None:
    title = node.op
    if node.name and node.name != node.op:
        title = f"{node.name} · {node.op}"
    st.markdown(f"**{escape(clean(title))}**")
    facts = [f"{label:<9} {clean(text)}" for label, text in _facts(node)]
    st.code("\n".join(facts), language=None)


def _facts(node: Node) -> Iterator[tuple[str, str]]:
    """The facts about a node under labels; an empty label continues the one before."""
    yield "node", f"{node.id}, {node.phase} {node.kind}, step {node.order}"
    if node.scope:
        yield "module", node.scope
    label = "source"
    for line in node.source[:SOURCE_LINES]:
        yield label, line
        label = ""
    if node.forward:
        yield "backward", f"of {node.forward}"
    for output in node.outputs:
        yield from _output(output)
    if node.saved_bytes:
        yield "saves", f"{node.saved_bytes} bytes for backward"
    for what, reason in sorted(node.missing.items()):
        yield f"no {what}", reason


def _output(output: Output) -> Iterator[tuple[str, str]]:
    shape = "×".join(map(str, output.shape)) or "scalar"
    yield "output", f"{shape} {output.dtype}"
    if output.values:
        yield from _values(output.values)


def _values(values: Summary) -> Iterator[tuple[str, str]]:
    if values.whole is not None:
        yield "values", digits(unpack(values.whole), ELEMENTS)
    # The figures of a single number would say it four times more.
    is_scalar = values.whole is not None and not values.whole.shape
    if not is_scalar:
        yield (
            "",
            f"min {values.minimum:.5g}, mean {values.mean:.5g}, "
            f"max {values.maximum:.5g}, norm {values.norm:.5g}",
        )
    if values.nonfinite:
        yield "", f"{values.nonfinite} not finite"
