"""What is tried where the other side reads other leaves or constants: these in the place of an op's own."""

import math

from explorer.compare.causes.input_trials import label_of
from explorer.compare.graphs.view import MOVES, GraphView
from explorer.model.arrays import Array
from explorer.model.causes import InputChange
from explorer.model.divergence import Place
from explorer.model.families import family
from explorer.model.graph import Node

CUT = MOVES | {"slice", "cast", "identity"}
"""Families of ops with which a part of a constant is read."""

KEPT = MOVES | {"identity", "flip"}
"""Families of ops between a leaf and what reads it."""


def of_other_leaves(
    here: GraphView, node: Node, there: GraphView, row: list[Node]
) -> tuple[InputChange, ...]:
    """The leaves that ``row`` reads instead of those of a node, which both graphs have, all at once.

    () where it reads the same ones, or where some have no counterpart: a weight is put in the place
    of a weight, a bias in that of a bias.
    """
    own = leaves_of(here, [node])
    others = {name for name in leaves_of(there, row).values() if name not in own.values()}
    if not others:
        return ()
    changes = []
    for slot, name in own.items():
        named_alike = [other for other in others if _last(other) == _last(name)]
        if len(named_alike) == 1:
            changes += _replaced(here, node, slot, named_alike[0])
    return tuple(changes) if len(changes) == len(others) else ()


def other_constants(
    here: GraphView, node: Node, there: GraphView, other: Node
) -> list[InputChange]:
    """The constants and leaves that an op of the other side reads as inputs, one in the place of one.

    Those in the same places, where both are whole, as large, and not the same.
    """
    if family(node.op) != family(other.op):
        return []
    own, others = _given_to(here, node), _given_to(there, other)
    changes = []
    for slot in own.keys() & others.keys():
        (_, mine), (read, value) = own[slot], others[slot]
        if mine != value and math.prod(mine.shape) == math.prod(value.shape) > 1:
            changes.append(InputChange((slot,), "given", label=_name(there, read), value=value))
    return changes


def _given_to(flow: GraphView, node: Node) -> dict[int, tuple[Node, Array]]:
    """What an op reads as constants and leaves, which may be cut on the way, by the place among all."""
    found = {}
    for edge in flow.into(node):
        read = flow.nodes[edge.origin]
        summary = read.outputs[edge.output].values if edge.output < len(read.outputs) else None
        if summary is not None and summary.whole is not None and _is_given(flow, read):
            found[edge.input] = read, summary.whole
    return found


def _is_given(flow: GraphView, node: Node) -> bool:
    """Whether a value is computed from no input: a constant or a leaf, or a part of one."""
    while node.kind == "op" and family(node.op) in CUT:
        reads = flow.origins(node)
        if len(reads) != 1:
            return False
        (node,) = reads
    return node.kind in ("constant", "parameter")


def _name(flow: GraphView, node: Node) -> str:
    """The name of a leaf, or a constant with the line that reads it."""
    if node.kind == "parameter" and node.name:
        return node.name
    for edge in flow.out_of(node):
        source = flow.nodes[edge.target].source
        if source:
            return f"{node.op} ({source[0]})"
    return label_of(node)


def _last(name: str) -> str:
    """ "weight" of "cell.weight"."""
    return name.rpartition(".")[2]


def leaves_of(flow: GraphView, row: list[Node]) -> dict[int, str]:
    """The names of the parameters that ops read, by the place among the inputs; those of a row counted on."""
    names = {}
    for place, node in enumerate(row):
        for edge in flow.into(node):
            leaf = _leaf(flow, flow.nodes[edge.origin])
            if leaf is not None:
                names[100 * place + edge.input] = leaf.name
    return names


def later_place(here: GraphView, node: Node, there: GraphView, other: Node) -> Place | None:
    """Where the other side computes, behind an op, with a parameter that a node reads; None if nowhere."""
    names = set(leaves_of(here, [node]).values())
    behind = there.behind(other.id) - {other.id} if names else set()
    of_leaf: dict[str, str] = {}
    for leaf in there.graph.nodes:
        if leaf.kind == "parameter" and leaf.name in names:
            of_leaf.update(dict.fromkeys(there.behind(leaf.id) & behind, leaf.name))
    for later in there.graph.nodes:
        if later.id in of_leaf and later.kind == "op" and later.phase == other.phase:
            return Place(label=of_leaf[later.id], source=next(iter(later.source), ""))
    return None


def _leaf(flow: GraphView, node: Node) -> Node | None:
    """The parameter whose numbers a node only moves."""
    for _ in flow.nodes:
        if node.kind == "parameter":
            return node
        reads = flow.origins(node)
        if node.kind != "op" or family(node.op) not in KEPT or len(reads) != 1:
            return None
        (node,) = reads
    return None


def _replaced(flow: GraphView, node: Node, slot: int, name: str) -> list[InputChange]:
    """What is made of the leaf of a name as the input of an op is made of its own; [] if nothing is."""
    (read,) = [edge for edge in flow.into(node) if edge.input == slot]
    maker = flow.nodes[read.origin]
    for other in flow.graph.nodes:
        is_alike = (other.op, other.kind) == (maker.op, maker.kind) and other.outputs
        if not is_alike or other.outputs[0].shape != maker.outputs[0].shape:
            continue
        leaf = _leaf(flow, other)
        if leaf is not None and leaf.name == name and other.phase == maker.phase:
            return [InputChange((slot,), "replaced", node=other.id, label=name)]
    return []
