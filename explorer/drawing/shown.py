"""The nodes of a graph that a picture shows: each for itself, or one for a module or for a state."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache, wraps
from typing import Concatenate, Final, Literal, ParamSpec, TypeVar

import msgspec

from explorer.drawing.folding import (
    NEVER_MERGED,
    Folding,
    Homes,
    deepest,
    module_homes,
    state_homes,
    stretch_homes,
    stretch_name,
    with_leaves_folded,
)
from explorer.drawing.structure import modules_of
from explorer.model.graph import Edge, GradGraph, Node

# A cache by graphs

MOST_CACHED: Final = 16
"""The results that a function keeps: two for each graph of a report, with a compiler's stages."""

Rest = ParamSpec("Rest")
Computed = TypeVar("Computed")


class _Itself:
    """A graph that equals itself alone: to compare all nodes of two takes as long as to show one."""

    def __init__(self, graph: GradGraph) -> None:
        self.graph = graph

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.graph is other.graph

    def __hash__(self) -> int:
        return id(self.graph)


def cached_by_graph(
    compute: Callable[Concatenate[GradGraph, Rest], Computed],
) -> Callable[Concatenate[GradGraph, Rest], Computed]:
    """An LRU cache for functions of a graph; the other arguments must be hashable.

    A report in several files draws each graph up to four times.
    """

    @lru_cache(MOST_CACHED)
    def cached(graph: _Itself, /, *rest: Hashable, **named: Hashable) -> Computed:
        return compute(graph.graph, *rest, **named)  # type: ignore[arg-type]  # those of compute

    @wraps(compute)
    def look_up(graph: GradGraph, /, *rest: Rest.args, **named: Rest.kwargs) -> Computed:
        return cached(_Itself(graph), *rest, **named)  # type: ignore[arg-type]  # they are hashable

    return look_up


# Graphs as they are shown

FOLDED_NAMES: Final = {"parameter": "parameters", "output": "gradients"}
"""What a card that stands for several leaves counts, by their kind."""


MOST_NODES: Final = 120
"""A picture opens with at most so many nodes where merging modules can bring it there.

They fill a screen that is zoomed out until the text is just legible.
"""

MOST_APART: Final = 2
"""How many times the nodes that fit a picture may open with where merging modules does not make them fit.

A net that still has more (operators between hundreds of modules in a row, or no modules at all) opens in
stretches of what follows one another.
"""

STRETCHES: Final = (24, 12, 6, 3, 1)
"""Into how many stretches a phase is merged: the first number that leaves few enough nodes."""

Depth = int | Literal["all", "fit"]
"""How far modules are merged.

A number is how many parts of a module path stay apart, and 0 merges each phase whole; "all" leaves
every operator apart; "fit" takes the greatest depth at which few enough nodes are left.
"""


ModuleOf = Callable[[Node], str]
"""Gives the module as which a node is shown, "" for none."""


class Shown(msgspec.Struct, frozen=True):
    """A graph as a picture shows it.

    ``homes`` gives, for every node of the whole graph, the node that shows it; nodes keep their ids.
    ``members`` are the nodes of the whole graph that one shows beside itself or instead of itself,
    by the id of the one; ``modules`` are the ids of those that show several instead of themselves.
    ``folding`` is how far modules are merged; ``whole`` is the number of nodes that would be in
    sight if every operator stood for itself.
    """

    graph: GradGraph
    homes: Homes
    members: dict[str, tuple[Node, ...]]
    modules: frozenset[str]
    whole: int
    folding: Folding = Folding()

    @property
    def depth(self) -> int | None:
        """How many parts of module paths stay apart; None where every operator does."""
        return self.folding.depth

    def apart(self, nodes: Iterable[str]) -> tuple[str, ...]:
        """Those of some nodes of the whole graph that are in sight and stand for themselves."""
        return tuple(
            node for node in nodes if self.homes[node] == node and node not in self.modules
        )


def show(graph: GradGraph, depth: Depth = "all", most_nodes: int = MOST_NODES) -> Shown:
    """The graph with moved states beside their operators, and its modules merged to a depth.

    ``most_nodes`` are few enough for the depth "fit". Raises UsageError for a negative depth.
    """
    if depth == "fit":
        return show_folded(graph, fitting(graph, most_nodes))
    if depth == "all":
        return show_folded(graph, Folding())
    return show_folded(graph, Folding(depth))


@cached_by_graph
def show_folded(graph: GradGraph, folding: Folding) -> Shown:
    """The graph with moved states beside their operators, and with modules merged as asked."""
    homes, apart = _homes(graph, folding)
    return _shown(graph, homes, apart, folding)


def _homes(graph: GradGraph, folding: Folding) -> tuple[Homes, set[str]]:
    """The home of every node, and the nodes that would be in sight were no module merged."""
    homes = {**_own_homes(graph), **state_homes(graph)}
    apart = set(homes.values())
    if folding.merges_nothing:
        return homes, apart
    merge = module_homes
    if folding.stretches:
        merge = stretch_homes
    homes = merge(graph, folding, homes)
    return with_leaves_folded(graph, homes, _several(homes, apart)), apart


def _own_homes(graph: GradGraph) -> Homes:
    """Every node as its own home."""
    return {node.id: node.id for node in graph.nodes}


def show_both(left: GradGraph, right: GradGraph, depth: Depth = "all") -> tuple[Shown, Shown]:
    """Two graphs for one picture: at the depth "fit", the greatest at which both fit.

    Raises UsageError for a negative depth.
    """
    if depth != "fit":
        return show(left, depth), show(right, depth)
    folding = alike(fitting(left, MOST_NODES), fitting(right, MOST_NODES))
    return show_folded(left, folding), show_folded(right, folding)


def alike(left: Folding, right: Folding) -> Folding:
    """The folding for two graphs in one picture, each of which fits as one of these says."""
    # A module that is open in one and folded in the other has nothing to be compared with.
    stretches = [folding.stretches for folding in (left, right) if folding.stretches]
    if stretches:
        return Folding(stretches=min(stretches))
    depths = [folding.depth for folding in (left, right) if folding.depth is not None]
    return Folding(min(depths, default=None))


def untouched(graph: GradGraph) -> Shown:
    """The graph with every node for itself."""
    return Shown(graph, _own_homes(graph), {}, frozenset(), len(graph.nodes))


@cached_by_graph
def fitting(graph: GradGraph, most_nodes: int) -> Folding:
    """The greatest depth that leaves at most so many nodes in sight; depth 1 where none does.

    Where that leaves far too many, it is into stretches.
    """
    folding = Folding()
    depth = deepest(graph)
    while (count := _count(graph, folding)) > most_nodes and depth > 0:
        folding = Folding(depth)
        depth -= 1
    if count <= MOST_APART * most_nodes:
        return folding
    for stretches in STRETCHES:
        folding = Folding(stretches=stretches)
        if _count(graph, folding) <= most_nodes:
            break
    return folding


def _count(graph: GradGraph, folding: Folding) -> int:
    """How many nodes are in sight."""
    homes, _ = _homes(graph, folding)
    return len(set(homes.values()))


def _several(homes: Homes, apart: Collection[str]) -> frozenset[str]:
    """The nodes that show several of those which stand ``apart`` where no module is merged."""
    counts = Counter(homes[node] for node in apart)
    return frozenset(node for node, count in counts.items() if count > 1)


def _shown(graph: GradGraph, homes: Homes, apart: Collection[str], folding: Folding) -> Shown:
    modules = _several(homes, apart)
    groups: defaultdict[str, list[Node]] = defaultdict(list)
    for node in graph.nodes:
        groups[homes[node.id]].append(node)
    if len(groups) == len(graph.nodes):
        return Shown(graph, homes, {}, modules, len(apart), folding)

    paths = modules_of(graph)
    read_outside = _read_outside(graph, homes)
    places = {node.id: place for place, node in enumerate(graph.nodes)}
    nodes = []
    for node in graph.nodes:
        if homes[node.id] != node.id:
            continue
        members_of = groups[node.id]
        if node.id in modules:
            node = _one_for_several(node, members_of, folding, paths, read_outside)
        forward = _forward_link(members_of, homes, places)
        nodes.append(msgspec.structs.replace(node, forward=forward))
    shown = msgspec.structs.replace(graph, nodes=tuple(nodes), edges=_edges(graph, homes, modules))
    members = {id_: tuple(group) for id_, group in groups.items() if len(group) > 1}
    return Shown(shown, homes, members, modules, len(apart), folding)


def _read_outside(graph: GradGraph, homes: Homes) -> set[str]:
    """The nodes that are read in another home than their own."""
    return {edge.origin for edge in graph.edges if homes[edge.origin] != homes[edge.target]}


def _one_for_several(
    first: Node,
    members: Sequence[Node],
    folding: Folding,
    paths: Mapping[str, str],
    read_outside: set[str],
) -> Node:
    """The node that several are shown as, in the place of the ``first`` of them.

    ``paths`` are the modules of all nodes.
    """
    if first.kind in FOLDED_NAMES:
        name = f"{len(members)} {FOLDED_NAMES[first.kind]}"
        return Node(
            id=first.id,
            op=first.kind,
            kind=first.kind,
            phase=first.phase,
            name=name,
            order=first.order,
        )
    module = _module_node(
        first, members, lambda node: folding.module_of(paths[node.id]) or "", read_outside
    )
    if folding.stretches:
        return msgspec.structs.replace(module, op=stretch_name(members, paths), scope="")
    return module


def _module_node(
    first: Node, members: Sequence[Node], module_of: ModuleOf, read_outside: set[str]
) -> Node:
    """The node that a module is shown as, in the place of the ``first`` operator in it.

    Its outputs are those of the last member that is read outside.
    """
    scope = ""
    for node in members:
        if node.scope:
            scope = module_of(node)
            break
    whole_phase = "net"
    if first.phase == "backward":
        whole_phase = "net, backward"
    return Node(
        id=first.id,
        op=scope or whole_phase,
        kind="call",
        phase=first.phase,
        scope=scope,
        source=first.source,
        order=min(node.order for node in members),
        outputs=_last_leaving(members, read_outside).outputs,
        body=first.body,
        saved_bytes=sum(node.saved_bytes for node in members),
    )


def _last_leaving(members: Sequence[Node], read_outside: set[str]) -> Node:
    """The last operator that is read outside its module, or else the last of all."""
    # The outputs of the others do not leave the module.
    last = None
    for node in reversed(members):
        if node.kind in NEVER_MERGED:
            continue
        if node.id in read_outside:
            return node
        last = last or node
    return last or members[-1]


def _forward_link(members: Sequence[Node], homes: Homes, places: Mapping[str, int]) -> str | None:
    """The node that shows what most of the members derive from, the earliest of equals."""
    votes: Counter[str] = Counter()
    for node in members:
        if node.forward is not None and node.forward in homes:
            votes[homes[node.forward]] += 1
    if not votes:
        return None
    return min(votes, key=lambda id_: (-votes[id_], places[id_]))


def _edges(graph: GradGraph, homes: Homes, modules: frozenset[str]) -> tuple[Edge, ...]:
    """The edges between different nodes in sight, each once.

    All edges of a node that shows others have slot 0, but for those that are its own.
    """
    nodes = graph.by_id()
    between: dict[Edge, None] = {}
    for edge in graph.edges:
        origin, target = homes[edge.origin], homes[edge.target]
        if origin == target:
            continue
        # Slots are numbered for one node; those of several nodes would be mistaken for each other.
        output = slot = 0
        if origin == edge.origin and origin not in modules:
            output = edge.output
        if target == edge.target and target not in modules:
            slot = edge.input
        kind = edge.kind
        if kind == "data" and _is_kept_for_backward(nodes[origin], nodes[target]):
            kind = "saved"
        between[Edge(origin, target, output, slot, kind)] = None
    return tuple(between)


def _is_kept_for_backward(origin: Node, target: Node) -> bool:
    """Whether an edge leads from a computed value of the forward into the backward.

    A moved parameter is read as a leaf, and shown with the operator that moves it.
    """
    is_computed = origin.kind in ("op", "call", "accumulate")
    return is_computed and (origin.phase, target.phase) == ("forward", "backward")
