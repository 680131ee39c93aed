"""Ops on the way to a loss that pair every element of one tensor with every one of another."""

from collections import defaultdict
from collections.abc import Iterable
from math import prod

from explorer.compare.framework_graphs import graphs_of_frameworks
from explorer.model.divergence import Place
from explorer.model.families import family
from explorer.model.findings import ReportFinding, SilentBroadcast
from explorer.model.graph import GradGraph, Node

REDUCTIONS = frozenset({"mean", "sum"})
"""Families that make one number of a tensor."""

LOSSES = frozenset(
    {"mseloss", "l1loss", "smoothl1loss", "huberloss", "binarycrossentropy", "bcewithlogits"}
)
"""Families of element-wise losses that reduce to a number themselves."""

SPREADING = frozenset({"expand"})
"""Families in which a broadcast is an op of its own."""

FAR = 6
"""Ops between a broadcast and the reduction to a loss that are looked at."""

Shape = tuple[int, ...]


def silent_broadcasts(graphs: Iterable[GradGraph]) -> tuple[ReportFinding, ...]:
    """A remark on each line that broadcasts (n, 1) against (n,) to (n, n) and makes a loss of it."""
    findings: list[ReportFinding] = []
    for graph in graphs_of_frameworks(graphs):
        findings += _in_graph(graph)
    return tuple(findings)


def _in_graph(graph: GradGraph) -> list[ReportFinding]:
    nodes = graph.by_id()
    feeders: dict[str, list[Node]] = defaultdict(list)
    users: dict[str, list[Node]] = defaultdict(list)
    for edge in graph.edges:
        if edge.kind != "control":
            feeders[edge.target].append(nodes[edge.origin])
            users[edge.origin].append(nodes[edge.target])
    found: dict[str, ReportFinding] = {}
    for node in graph.nodes:
        if node.kind != "op" or node.phase != "forward" or family(node.op) in SPREADING:
            continue
        operands = [_before_spreading(feeder, feeders) for feeder in feeders[node.id]]
        shapes = _paired(operands)
        if shapes is None or not _becomes_a_loss(node, shapes, users):
            continue
        place = Place(label=node.op, scope=node.scope, source=next(iter(node.source), ""))
        fact = SilentBroadcast(place, graph.engine, shapes)
        found.setdefault(
            place.source, ReportFinding(fact=fact, names=(place.scope or place.label,))
        )
    return list(found.values())


def _before_spreading(node: Node, feeders: dict[str, list[Node]]) -> Node:
    """What a tensor was before it was expanded."""
    while family(node.op) in SPREADING and len(feeders[node.id]) == 1:
        node = feeders[node.id][0]
    return node


def _paired(operands: list[Node]) -> tuple[Shape, Shape] | None:
    """The shapes of two operands like (n, 1) and (n,), neither of them a parameter."""
    if len(operands) != 2 or any(node.kind == "parameter" for node in operands):
        return None
    if not all(node.outputs for node in operands):
        return None
    first, second = (node.outputs[0].shape for node in operands)
    longer, shorter = (first, second) if len(first) > len(second) else (second, first)
    n = prod(shorter)
    is_column = len(shorter) == 1 and len(longer) == 2 and longer == (n, 1)
    return (first, second) if is_column and n > 1 else None


def _becomes_a_loss(node: Node, shapes: tuple[Shape, Shape], users: dict[str, list[Node]]) -> bool:
    """Whether an op is a loss, or what it yields goes element by element into a mean or a sum."""
    if family(node.op) in LOSSES:
        return True
    size = prod(shapes[0]) ** 2
    for _step in range(FAR):
        following = [user for user in users[node.id] if user.phase == "forward"]
        if len({user.id for user in following}) != 1 or not following[0].outputs:
            return False
        node = following[0]
        left = prod(node.outputs[0].shape)
        if left == 1:
            return family(node.op) in REDUCTIONS
        if left != size:
            return False
    return False
