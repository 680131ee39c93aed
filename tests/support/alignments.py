"""What tests ask of an alignment: names of ops where the record has ids."""

from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from explorer.compare.align import align
from explorer.compare.align.matching import Matching
from explorer.compare.align.provenance import trace_origins
from explorer.compare.align.sameness import fingerprint
from explorer.compare.align.vertices import Side, Vertex, view
from explorer.model.alignment import Alignment, How, Pair
from explorer.model.divergence import Divergence, OtherValue, mirrored
from explorer.model.graph import GradGraph, SideName
from explorer.words.divergences import first_divergence, sentence
from explorer.words.readings import reading
from tests.support.computed_graphs import ComputedGraph
from tests.support.written_nets import Change, net


class Parting(NamedTuple):
    """Where two graphs part: the names of leaves or ops (None: no counterpart), and the sentence."""

    left: str | None
    right: str | None
    sentence: str


def parting(left: GradGraph, right: GradGraph) -> Parting:
    """The first divergence of two graphs, which must have one."""
    alignment = align(left, right)
    assert alignment.divergence is not None
    one, other = alignment.divergence.nodes
    return Parting(_called(left, one), _called(right, other), first_divergence(alignment))


ABSENT = "-"
"""Stands for an end of a row without a counterpart."""


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A net, its port, and where they part.

    Marked lines of the text are of the net or of its port alone. ``alike`` are pieces of the port
    that are written otherwise and make no divergence, ``changes`` those that make one: it is at the
    ops or leaves ``ends`` ("" where that is no matter), and its sentence holds ``said``.
    """

    text: str
    changes: tuple[Change, ...] = ()
    ends: tuple[str, str] = ("", "")
    said: tuple[str, ...] = ()
    alike: tuple[Change, ...] = ()


def rows(table: Path) -> dict[str, Row]:
    """The rows of a table by their names."""
    return msgspec.toml.decode(table.read_bytes(), type=dict[str, Row])


def assert_parts(row: Row, **known: Any) -> str:
    """Asserts that a net parts from its port as the row says, from either side; the sentence."""
    left = net("a", row.text, **known)
    assert align(left, net("b", row.text, *row.alike, **known)).divergence is None
    right = net("b", row.text, *row.alike, *row.changes, side="right", **known)
    assert_mirrored(align(left, right), align(right, left))
    found = parting(left, right)
    assert row.ends in (("", ""), tuple(end or ABSENT for end in found[:2]))
    for part in row.said:
        assert part in found.sentence
    return found.sentence


def assert_mirrored(there: Alignment, back: Alignment) -> None:
    """Asserts that two alignments say the same with their sides exchanged, but for pairs' numbers."""
    expected = [_facts(mirrored(divergence)) for divergence in there.divergences]
    assert [_facts(divergence) for divergence in back.divergences] == expected
    assert set(there.differing) == set(back.differing)
    assert (there.left_coverage, there.right_coverage) == (back.right_coverage, back.left_coverage)
    pairs = {(_end(pair, "left"), _end(pair, "right"), pair.how) for pair in there.pairs}
    assert pairs == {(_end(pair, "right"), _end(pair, "left"), pair.how) for pair in back.pairs}
    for side, other in (("left", "right"), ("right", "left")):
        lone = {(it.node, it.reason) for it in there.unpaired if it.side == side}
        assert lone == {(it.node, it.reason) for it in back.unpaired if it.side == other}


def _facts(divergence: Divergence) -> Any:
    if isinstance(divergence, OtherValue):
        # An input that has other shapes is named as the left side calls it.
        spread = tuple(msgspec.structs.replace(it, name="") for it in divergence.inputs.spread)
        inputs = msgspec.structs.replace(divergence.inputs, spread=spread)
        divergence = msgspec.structs.replace(divergence, inputs=inputs)
    return _in_digits(msgspec.to_builtins(divergence))


def _in_digits(value: Any) -> Any:
    """What builtins hold, with numbers as text: rounding is no matter, and nan equals nan."""
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, dict):
        return {key: _in_digits(item) for key, item in value.items()}
    return [_in_digits(item) for item in value] if isinstance(value, list | tuple) else value


def _end(pair: Pair, side: str) -> tuple[object, ...]:
    """One end of a pair: the node, its output, and the steps inside."""
    within = frozenset(getattr(pair, f"{side}_within"))
    return getattr(pair, side), getattr(pair, f"{side}_output"), within


def said(divergence: Divergence) -> str:
    """A divergence of the graphs "a" and "b" in a sentence."""
    return sentence(divergence, ("a", "b"))


def values_read(divergence: Divergence) -> tuple[str, str]:
    """What is read of the values of both sides."""
    left, right = divergence.ends
    return reading(left.value), reading(right.value)


def sources(divergence: Divergence) -> tuple[str, str]:
    """The line of each side."""
    left, right = divergence.ends
    return left.source, right.source


def _called(graph: GradGraph, node: str | None) -> str | None:
    if node is None:
        return None
    record = graph.by_id()[node]
    return record.name or record.op


def partners(alignment: Alignment) -> dict[str, str]:
    """The right node of each left one."""
    return {pair.left: pair.right for pair in alignment.pairs}


def every_node_with_itself(graph: GradGraph) -> dict[str, str]:
    """The partners of a graph that is aligned with itself."""
    return {node.id: node.id for node in graph.nodes}


def reasons(alignment: Alignment, side: SideName, graph: GradGraph) -> dict[str, str]:
    """Why ops of one side have no partner."""
    nodes = graph.by_id()
    reasons: dict[str, str] = {}
    for unpaired in alignment.unpaired:
        if unpaired.side == side:
            reasons[nodes[unpaired.node].op] = unpaired.reason
    return reasons


def matching_of(left: ComputedGraph, right: ComputedGraph) -> Matching:
    """Two sides before anything is paired."""
    sides = view(left.record(), right.record())
    fingerprint(*sides)
    for side in sides:
        trace_origins(side)
    return Matching(*sides)


def called(side: Side, name: str) -> Vertex:
    """The only node of an op, or of a name."""
    (node,) = (node for node in side.nodes if name in (node.op, node.name))
    return node


def join(matching: Matching, *names: str, how: How = "name") -> None:
    """Pairs the nodes of some names."""
    for name in names:
        first, second = (called(side, name).value for side in matching.sides)
        matching.join(first, second, how)
