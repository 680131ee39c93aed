"""The structure of a gradient graph: links between nodes, and the modules that nodes belong to."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

from explorer.drawing.label_text import printable
from explorer.model.graph import Edge, GradGraph, Layer, Node

Vertex = TypeVar("Vertex", bound=Hashable)

Link = tuple[str, str]
"""The ids of an edge's origin and of its target."""

Neighbours = defaultdict[str, list[str]]
"""The ids that stand next to each id in one direction; none for an id that has no link."""


def links_of(edges: Iterable[Edge]) -> list[Link]:
    """The two ends of each edge."""
    return [(edge.origin, edge.target) for edge in edges]


def edges_among(graph: GradGraph, nodes: Iterable[str]) -> list[Edge]:
    """The edges of a graph that begin and end at some of its nodes."""
    ids = set(nodes)
    return [edge for edge in graph.edges if edge.origin in ids and edge.target in ids]


def links_among(graph: GradGraph, nodes: Iterable[str]) -> list[Link]:
    """The two ends of each edge that begins and ends at some of a graph's nodes."""
    return links_of(edges_among(graph, nodes))


def neighbours(links: Iterable[Link]) -> tuple[Neighbours, Neighbours]:
    """The origins of the links into each node, and the targets of the links out of it.

    A node is listed once for each of its links.
    """
    before: Neighbours = defaultdict(list)
    after: Neighbours = defaultdict(list)
    for origin, target in links:
        before[target].append(origin)
        after[origin].append(target)
    return before, after


def in_order(nodes: Iterable[str], links: Iterable[Link]) -> Iterator[Link]:
    """The links in an order in which all links into a node precede all links out of it.

    Links on a cycle, and those that follow one, are left out. Source: A. B. Kahn, "Topological
    sorting of large networks", Communications of the ACM 5 (1962).
    """
    before, after = neighbours(links)
    # How many links into each node have not been walked yet; a node is ready when none is left.
    waiting: Counter[str] = Counter()
    for target, origins in before.items():
        waiting[target] = len(origins)
    ready = [node for node in nodes if not waiting[node]]
    # A list rather than recursion: a chain of 10,000 nodes is deeper than Python's stack.
    while ready:
        origin = ready.pop()
        for target in after[origin]:
            yield origin, target
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)


def layers(nodes: Iterable[str], links: Iterable[Link]) -> dict[str, int]:
    """The number of links on the longest path to each node.

    A node on a cycle is left where the links before it put it.
    """
    layer = dict.fromkeys(nodes, 0)
    for origin, target in in_order(layer, links):
        layer[target] = max(layer[target], layer[origin] + 1)
    return layer


def components(
    nodes: Iterable[Vertex], links: Iterable[tuple[Vertex, Vertex]]
) -> list[list[Vertex]]:
    """The strongly connected components: nodes of one are each reached from every other.

    Source: M. Sharir, "A strong-connectivity algorithm and its applications in data flow analysis",
    Computers & Mathematics with Applications 7 (1981), after an idea of S. R. Kosaraju.
    """
    before: defaultdict[Vertex, list[Vertex]] = defaultdict(list)
    after: defaultdict[Vertex, list[Vertex]] = defaultdict(list)
    for origin, target in links:
        before[target].append(origin)
        after[origin].append(target)

    # Of two components with a link between them, a node of the first is left last.
    left: list[Vertex] = []
    seen: set[Vertex] = set()
    for start in nodes:
        left += _reached(start, after, seen)
    # Against the links the later ones cannot be left, and the earlier ones have been seen.
    found: list[list[Vertex]] = []
    seen = set()
    for start in reversed(left):
        component = _reached(start, before, seen)
        if component:
            found.append(component)
    return found


def _reached(
    start: Vertex, after: Mapping[Vertex, list[Vertex]], seen: set[Vertex]
) -> list[Vertex]:
    """The nodes not ``seen`` that links lead to, each after all that are reached through it."""
    if start in seen:
        return []
    seen.add(start)
    left: list[Vertex] = []
    path = [(start, iter(after.get(start, ())))]
    while path:
        node, targets = path[-1]
        target = next((target for target in targets if target not in seen), None)
        if target is None:
            left.append(node)
            path.pop()
        else:
            seen.add(target)
            path.append((target, iter(after.get(target, ()))))
    return left


PART_DOT: Final = "\ufffe"
"""Replaces a dot within one part of a module path; XML forbids it, so no other text contains it."""


def modules_of(graph: GradGraph) -> dict[str, str]:
    """The module path of every node, "" where there is none; keyed by id.

    A backward node without a path of its own belongs to the module of its forward node.
    """
    scopes = {node.id: node.scope for node in graph.nodes}
    modules = dict(scopes)
    for node in graph.nodes:
        if node.forward and not node.scope:
            modules[node.id] = scopes.get(node.forward, "")
    return modules


def layer_of(scope: str, layers: Mapping[str, Layer]) -> str | None:
    """The path of the innermost layer around a module path; None where there is none."""
    for path in reversed(["", *paths_to(scope)]):
        if path in layers:
            return path
    return None


def module_path(scope: str, depth: int) -> str:
    """The first ``depth`` parts of a module path: ``block.conv`` of ``block.conv.pad`` for 2."""
    return ".".join(scope.split(".")[:depth])


def paths_to(path: str) -> list[str]:
    """A module path behind those of the modules around it, the outermost first; none of ""."""
    paths = []
    while path:
        paths.append(path)
        path = path.rpartition(".")[0]
    return paths[::-1]


def module_names(graph: GradGraph) -> frozenset[str]:
    """The paths of all modules of a graph, those around others too."""
    names: set[str] = set()
    for path in modules_of(graph).values():
        names.update(paths_to(path))
    return frozenset(names)


def group_paths(graph: GradGraph) -> dict[str, str]:
    """The path of every node's group: its subgraph, if it is in one, then its module; keyed by id.

    A constant without a module belongs to that of its readers, if all are in one.
    """
    modules = modules_of(graph)
    readers: defaultdict[str, set[str]] = defaultdict(set)
    for edge in graph.edges:
        readers[edge.origin].add(modules[edge.target])

    paths = {}
    for node in graph.nodes:
        module = modules[node.id]
        if _stands_outside_modules(node):
            module = ""
        elif _is_merged_module(node):
            # Its box says what module it is; a group around that box alone would repeat it.
            module = module.rpartition(".")[0]
        elif node.kind == "constant" and not module and len(readers[node.id]) == 1:
            (module,) = readers[node.id]
        # The condition of a branch is source code, whose dots do not separate modules.
        body = printable(node.body).replace(".", PART_DOT)
        paths[node.id] = ".".join(filter(None, (body, printable(module))))
    return paths


def _is_merged_module(node: Node) -> bool:
    return node.kind == "call" and bool(node.scope) and node.op == node.scope


def _stands_outside_modules(node: Node) -> bool:
    """Whether a node enters or leaves the whole net, whichever module reads or makes it."""
    is_seed = node.kind == "constant" and node.name == "seed"
    return node.kind == "output" or is_seed
