"""What must be true of updates in place at a divergence, so that it is a known one.

In a sight the sides are in the order of a row's parties: where one is MindSpore's, it is the first.
"""

from explorer.compare.known.sight import Side, Sight
from explorer.model.families import family, squashed
from explorer.model.graph import Node


def is_computed_in_vain(sight: Sight) -> bool:
    """The tape computes what the other side goes on with, from the same value, and nothing reads it."""
    tape, other = sight.sides
    return any(
        _is_of_kind(vain, made) and sight.are_counterparts(*_first_read(vain, made, tape, other))
        for vain in _in_vain(tape)
        for made in _written(sight, other)
        if tape.flow.origins(vain) and other.flow.origins(made)
    )


def _first_read(vain: Node, made: Node, tape: Side, other: Side) -> tuple[Node, Node]:
    return tape.flow.origins(vain)[0], other.flow.origins(made)[0]


def _in_vain(side: Side) -> list[Node]:
    """The ops of the forward whose value nothing reads."""
    nodes = side.flow.graph.nodes
    return [
        it for it in nodes if (it.kind, it.phase) == ("op", "forward") and not side.flow.out_of(it)
    ]


def _written(sight: Sight, side: Side) -> list[Node]:
    """The ops that a side may have alone: that of the divergence, of the cause, and what they read."""
    nodes = [*side.row, *side.origins()]
    if sight.cause and sight.cause.side == side.name and sight.cause.node in side.flow.nodes:
        nodes.append(side.flow.nodes[sight.cause.node])
    return [node for node in nodes if node.kind == "op"]


IN_PLACE = frozenset({"add", "sub", "mul", "div"})
"""The families of the methods that change nothing on the CPU's tape."""


def _is_of_kind(vain: Node, made: Node) -> bool:
    return _kind(vain) == _kind(made) and _kind(vain) in IN_PLACE


def _kind(node: Node) -> str:
    """The family of an op, or of the op that it is in place."""
    return family(node.op.removeprefix("Inplace").removesuffix("Ext"))


def a_write_is_lost(sight: Sight) -> bool:
    """The tape writes to a view in vain, and PyTorch's op reads what was written to its own."""
    tape, other = sight.sides
    writes = [it for it in _in_vain(tape) if squashed(it.op) == "tensorscatterupdate"]
    is_view = any(
        family(origin.op) in ("reshape", "transpose")
        for write in writes
        for origin in tape.flow.origins(write)[:1]
    )
    return is_view and any(it.op.startswith("aten.copy_.") for it in _written(sight, other))


def a_saved_result_is_overwritten(sight: Sight) -> bool:
    """MindSpore's backward reads its forward's own result, to which an op in place writes."""
    ours = sight.sides[0]
    if ours.node is None or ours.forward not in ours.flow.origins(ours.node):
        return False
    readers = [ours.flow.nodes[edge.target] for edge in ours.flow.out_of(ours.forward)]
    return any(reader.op.startswith("Inplace") for reader in readers)
