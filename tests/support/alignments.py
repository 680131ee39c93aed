"""What tests ask of an alignment: names of ops where the record has ids."""

from typing import Any, NamedTuple

from explorer.compare.align import align
from explorer.compare.align.fingerprints import Tolerance, fingerprint
from explorer.compare.align.matching import Matching
from explorer.compare.align.provenance import trace_origins
from explorer.compare.align.vertices import Side, Vertex, view
from explorer.model.alignment import Alignment
from explorer.model.divergence import Divergence
from explorer.model.graph import GradGraph, SideName
from explorer.words.divergences import first_divergence, sentence
from explorer.words.readings import reading
from tests.support.computed_graphs import ComputedGraph
from tests.support.written_nets import Change, net

TOLERANCE = Tolerance(rtol=1e-4, atol=1e-6)
"""Within which values of these graphs agree."""


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


class Row(NamedTuple):
    """A net, its port, and where they part.

    ``alike`` are pieces of the port that are written otherwise and make no divergence, ``changes``
    those that make one: it is at the ops or leaves ``ends`` (None: there is no counterpart; "" where
    that is no matter), and its sentence holds ``said``.
    """

    text: str
    changes: tuple[Change, ...]
    ends: tuple[str | None, str | None] = ("", "")
    said: tuple[str, ...] = ()
    alike: tuple[Change, ...] = ()


def assert_parts(row: Row, **known: Any) -> str:
    """Asserts that a net parts from its port as the row says, from either side; the sentence."""
    left = net("a", row.text, **known)
    assert align(left, net("b", row.text, *row.alike, **known)).divergence is None
    right = net("b", row.text, *row.alike, *row.changes, **known)
    found, mirrored = parting(left, right), parting(right, left)
    assert found[:2] == mirrored[1::-1]
    assert row.ends in (("", ""), found[:2])
    for part in row.said:
        assert part in found.sentence
    return found.sentence


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
    fingerprint(*sides, TOLERANCE)
    for side in sides:
        trace_origins(side)
    return Matching(*sides, TOLERANCE)


def called(side: Side, name: str) -> Vertex:
    """The only node of an op, or of a name."""
    (node,) = (node for node in side.nodes if name in (node.op, node.name))
    return node
