"""Which nodes of a graph a picture merges: modules, stretches, moved states, leaves of modules."""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from explorer.drawing.structure import (
    Link,
    Neighbours,
    components,
    in_order,
    layers,
    links_among,
    links_of,
    module_path,
    modules_of,
    neighbours,
    paths_to,
)
from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph, Node
from explorer.text.language import _
from explorer.text.numbers import counted

# How far modules are merged


class Folding(msgspec.Struct, frozen=True):
    """How far modules are merged, and those that are not merged as the depth says.

    ``depth`` is how many parts of a module path stay apart; 0 merges each phase whole, None no
    module. Paths in ``opened`` show what is directly in them, those in ``folded`` are one node.
    ``stretches`` above 0 merges each phase into at most so many parts that follow one another, whatever
    modules they are in; only what is ``opened`` stays apart.
    """

    depth: int | None = None
    opened: frozenset[str] = frozenset()
    folded: frozenset[str] = frozenset()
    stretches: int = 0

    def __post_init__(self) -> None:
        if self.depth is not None and self.depth < 0:
            text = _(
                "depth is {depth}: it counts the parts of a module path that stay apart, 0 or more"
            )
            raise UsageError(text.format(depth=self.depth))

    @property
    def merges_nothing(self) -> bool:
        """Whether every operator stands for itself."""
        return self.depth is None and not self.folded and not self.stretches

    @property
    def least(self) -> int:
        """The least number of parts that the path of a merged module has."""
        if self.depth is None:
            return 1
        if self.folded:
            return min(self.depth, 1)
        return self.depth

    def opens(self, path: str) -> bool:
        """Whether a module path is one of those opened, or in one of them."""
        return not self.opened.isdisjoint(paths_to(path))

    def module_of(self, path: str) -> str | None:
        """The module as which the nodes of a module path are shown; None where they stay apart."""
        for length, module in enumerate(paths_to(path), 1):
            is_deep = self.depth is not None and length >= self.depth
            if module in self.folded or (is_deep and module not in self.opened):
                return module
        # What is directly in a module of few parts is merged as well, beside the modules in it.
        if self.depth is None or path in self.opened:
            return None
        return path


# Modules

NEVER_MERGED: Final = frozenset({"input", "parameter", "output"})
"""Kinds of the nodes that belong to no module: inputs and parameters, outputs and gradients."""

MOST_LOOSE: Final = 60
"""The most operators outside all modules that stay apart beside modules that are merged."""

Key = tuple[Hashable, ...]
"""What merged nodes have in common: phase, subgraph, module; or the id of a node that is kept."""

Homes = dict[str, str]
"""For every node's id that of the node which shows it in a picture: its own, or another's."""


def deepest(graph: GradGraph) -> int:
    """The most parts that a module path of a graph has; 0 without modules."""
    paths = modules_of(graph).values()
    return max((path.count(".") + 1 for path in paths if path), default=0)


def module_homes(graph: GradGraph, folding: Folding, homes: Homes) -> Homes:
    """The homes of all nodes once modules are merged; a module is shown at its first node.

    Operators outside all modules stay apart while there are few. Forward and backward are merged
    apart. A module whose merging would make a cycle is split where it must be. ``homes`` are those
    before. Linear in nodes and edges for each level of modules.
    """
    # The inner modules first: what is merged at one level stays together at the next. So a picture
    # of less depth never has more nodes, which merging the ops anew at each depth does not ensure.
    loose = _loose(graph)
    shown_as = {node: folding.module_of(path) for node, path in modules_of(graph).items()}
    for level in range(max(folding.least, deepest(graph)), folding.least - 1, -1):
        apart = {node for node, module in shown_as.items() if _is_deeper(module, level)}
        homes = _merged_at_level(graph, level, homes, loose | apart)
    return homes


def _loose(graph: GradGraph) -> set[str]:
    """The operators outside all modules, where they stay apart."""
    modules = modules_of(graph)
    outside = {node.id for node in graph.nodes if not modules[node.id] and not is_kept(node)}
    # In a net without modules there is nothing else to see.
    has_modules = any(modules.values())
    if has_modules and len(outside) > MOST_LOOSE:
        return set()
    return outside


def _is_deeper(module: str | None, level: int) -> bool:
    """Whether the nodes of a module, None for none, are not merged yet at a level."""
    return module is None or (bool(module) and module.count(".") + 1 > level)


def _merged_at_level(graph: GradGraph, level: int, homes: Homes, apart: set[str]) -> Homes:
    return merged(graph, _keys(graph, level, set(homes.values()), apart), homes)


def merged(graph: GradGraph, keys: dict[str, Key], homes: Homes) -> Homes:
    """The homes once all nodes with equal keys are merged, split where that would make a cycle.

    ``keys`` are those of the nodes that were homes before.
    """
    links: dict[Link, None] = {}
    for edge in graph.edges:
        link = homes[edge.origin], homes[edge.target]
        if link[0] != link[1]:
            links[link] = None
    keys = _split_cycles(keys, list(links))
    firsts: dict[Key, str] = {}
    for node, key in keys.items():
        firsts.setdefault(key, node)
    return {node: firsts[keys[home]] for node, home in homes.items()}


def _keys(graph: GradGraph, depth: int, shown: set[str], apart: set[str]) -> dict[str, Key]:
    """The key of every node that is ``shown``; those with equal keys are to be merged.

    Those ``apart`` stay so, but for depth 0.
    """
    modules = modules_of(graph)
    keys: dict[str, Key] = {}
    for node in graph.nodes:
        if node.id not in shown:
            continue
        stays_apart = depth > 0 and node.id in apart
        if stays_apart or is_kept(node):
            keys[node.id] = (node.id,)
        else:
            keys[node.id] = (node.phase, node.body, module_path(modules[node.id], depth))
    return keys


def is_kept(node: Node) -> bool:
    """Whether a node enters or leaves the net, and is never merged with operators."""
    is_seed = node.kind == "constant" and node.phase == "backward"
    return node.kind in NEVER_MERGED or is_seed


def _split_cycles(keys: dict[str, Key], links: Sequence[Link]) -> dict[str, Key]:
    """The keys, with those on a cycle of merged nodes split.

    Merged nodes on one cycle are split by how often a path to the node has changed its key: this
    number never falls along an edge, so no path comes back to a merged node that it has left.
    """
    knots = _knots(keys, links)
    if not knots:
        return keys
    inside: list[Link] = []
    for origin, target in links:
        knot = knots.get(keys[origin])
        if knot is not None and knot == knots.get(keys[target]):
            inside.append((origin, target))
    changes = dict.fromkeys(keys, 0)
    for origin, target in in_order(keys, inside):
        changes_key = keys[origin] != keys[target]
        changes[target] = max(changes[target], changes[origin] + changes_key)

    _join_readers(changes, keys, inside)

    split = dict(keys)
    for node, key in keys.items():
        if key in knots:
            split[node] = (*key, changes[node])
    return split


def _join_readers(changes: dict[str, int], keys: Mapping[str, Key], links: Sequence[Link]) -> None:
    """Move nodes that read nothing on a cycle to the part of their module that reads them.

    That is where a module transposes its weight.
    """
    before, after = neighbours(links)
    for node, readers in after.items():
        if not before[node]:
            earliest = min(changes[reader] - (keys[reader] != keys[node]) for reader in readers)
            changes[node] = max(changes[node], earliest)


def _knots(keys: Mapping[str, Key], links: Iterable[Link]) -> dict[Key, int]:
    """The keys on cycles, each with the number of its knot: its strongly connected component."""
    # Each edge once: between two large modules there may be thousands.
    edges = dict.fromkeys((keys[origin], keys[target]) for origin, target in links)
    knots: dict[Key, int] = {}
    for number, component in enumerate(components(dict.fromkeys(keys.values()), edges)):
        if len(component) > 1:
            knots.update(dict.fromkeys(component, number))
    return knots


# Stretches of what follows one another


def stretch_homes(graph: GradGraph, folding: Folding, homes: Homes) -> Homes:
    """The homes of all nodes with each phase merged into at most ``folding.stretches`` stretches.

    These are cut by the longest path to a node, so that each has about as many nodes. Opened modules stay
    apart; a stretch with one inside is split. ``homes`` are those before. Linear in nodes and edges.
    """
    numbers: dict[str, int] = {}
    for phase in ("forward", "backward"):
        nodes = [node.id for node in graph.nodes if node.phase == phase and not _stays(node)]
        numbers.update(_numbers(nodes, links_among(graph, nodes), folding.stretches))

    modules = modules_of(graph)
    shown = set(homes.values())
    keys: dict[str, Key] = {}
    for node in graph.nodes:
        if node.id not in shown:
            continue
        if _stays(node) or folding.opens(modules[node.id]):
            keys[node.id] = (node.id,)
        else:
            keys[node.id] = (node.phase, node.body, numbers[node.id])
    return merged(graph, keys, homes)


def _stays(node: Node) -> bool:
    """Whether a node is never merged: what enters or leaves the net.

    A backward may read hundreds of constants without a name, such as the zeros around a slice; a seed
    has one.
    """
    is_nameless = node.kind == node.op == "constant" and not node.name
    return is_kept(node) and not is_nameless


def _numbers(nodes: Sequence[str], links: Sequence[Link], count: int) -> dict[str, int]:
    """The stretch of each node, from 0; no link leads from one to an earlier one."""
    layer = layers(nodes, links)
    before, after = neighbours(links)
    for node in nodes:
        # What reads nothing, such as a transposed weight, stands with the first that reads it.
        if after[node] and not before[node]:
            layer[node] = min(layer[reader] for reader in after[node]) - 1

    sizes = Counter(layer.values())
    stretches: dict[int, int] = {}
    passed = 0
    for place in sorted(sizes):
        stretches[place] = passed * count // len(nodes)
        passed += sizes[place]
    return {node: stretches[layer[node]] for node in nodes}


def stretch_name(members: Sequence[Node], modules: Mapping[str, str]) -> str:
    """The name of a stretch: its first module and its last, or how many operators it has.

    Of "blocks.3.fc" to "blocks.7.norm" it is "blocks.3 … 7": as far as the two have parts in common, and
    one part more.
    """
    paths = [modules[node.id].split(".") for node in members if modules[node.id]]
    if not paths:
        return counted(len(members), "operator")
    first, last = paths[0], paths[-1]
    common = 0
    while first[common : common + 1] == last[common : common + 1] != []:
        common += 1
    start = ".".join(first[: common + 1])
    end = ".".join(last[common : common + 1])
    return f"{start} … {end}" if end else start


# States that a forward only moves


class _Surroundings(msgspec.Struct, frozen=True):
    """A graph's nodes by id, and the neighbours of each."""

    nodes: dict[str, Node]
    before: Neighbours
    after: Neighbours


def state_homes(graph: GradGraph) -> dict[str, str]:
    """The operator that every node of a moved state is shown with, keyed by the node's id.

    A state is a parameter that the forward itself changes. Its nodes are the parameter, where only
    that operator reads it, the output that has its new value, and steps that nothing reads: PyTorch
    counts batches by one.
    """
    nodes = graph.by_id()
    around = _Surroundings(nodes, *neighbours(links_of(graph.edges)))
    parameters = {node.name: node.id for node in graph.nodes if node.kind == "parameter"}
    homes: dict[str, str] = {}
    for node in graph.nodes:
        if is_moved_state(node, parameters) and not around.after[node.id]:
            makers = around.before[node.id]
            if makers and nodes[makers[0]].kind == "op":
                homes[node.id] = makers[0]
                _take_parameter(homes, parameters[node.name], makers[0], around)
    _take_counters(homes, graph, around)
    return homes


def is_moved_state(node: Node, parameters: dict[str, str]) -> bool:
    """Whether a node is the new value of one of the ``parameters``, which are keyed by name."""
    is_output = node.kind == "output" and node.phase == "forward"
    return is_output and node.name in parameters


def _take_parameter(
    homes: dict[str, str], parameter: str, mover: str, around: _Surroundings
) -> None:
    """Show a moved parameter with its mover, where no other operator of the forward reads it."""
    for reader in around.after[parameter]:
        is_elsewhere = homes.get(reader, reader) != mover
        if is_elsewhere and around.nodes[reader].phase == "forward":
            return
    homes[parameter] = mover


def _take_counters(homes: dict[str, str], graph: GradGraph, around: _Surroundings) -> None:
    """Show steps that nothing reads, and the parameters they count in, with their module's mover."""
    movers: defaultdict[str, set[str]] = defaultdict(set)
    for mover in homes.values():
        movers[around.nodes[mover].scope].add(mover)
    for node in graph.nodes:
        own_movers = movers.get(node.scope, set())
        is_step = node.kind == "op" and node.phase == "forward" and not around.after[node.id]
        if len(own_movers) != 1 or not is_step or node.id in own_movers:
            continue
        counted = around.before[node.id]
        if all(_is_counter(around.nodes[leaf], node.id, around) for leaf in counted):
            (mover,) = own_movers
            homes.update(dict.fromkeys((node.id, *counted), mover))


def _is_counter(leaf: Node, step: str, around: _Surroundings) -> bool:
    """Whether a leaf is a parameter that nothing but a step reads."""
    return leaf.kind == "parameter" and set(around.after[leaf.id]) == {step}


# Leaves of merged modules


def with_leaves_folded(graph: GradGraph, homes: Homes, modules: Collection[str]) -> Homes:
    """The homes with the parameters of merged modules in one card, and their gradients in another.

    ``modules`` are the ids of nodes that show a merged module. A parameter that operators outside
    these read stays apart, and so does the gradient of an input.
    """
    before, after = neighbours(links_of(graph.edges))
    nodes = graph.by_id()
    groups: defaultdict[Hashable, list[str]] = defaultdict(list)
    for node in graph.nodes:
        if homes[node.id] != node.id:
            continue  # a state that is shown with its mover
        if node.kind == "parameter":
            joined = _first_readers(after[node.id], nodes)
        elif _is_gradient_of_parameter(node, nodes):
            joined = before[node.id]
        else:
            continue
        around = frozenset(map(homes.__getitem__, joined))
        if around and around.issubset(modules):
            groups[node.kind, around].append(node.id)

    folded = dict(homes)
    for members in groups.values():
        folded.update(dict.fromkeys(members, members[0]))
    return folded


def _first_readers(readers: list[str], nodes: Mapping[str, Node]) -> list[str]:
    """The readers in the forward; those in the backward where there is none."""
    in_forward = [reader for reader in readers if nodes[reader].phase == "forward"]
    return in_forward or readers


def _is_gradient_of_parameter(node: Node, nodes: Mapping[str, Node]) -> bool:
    if node.kind != "output" or node.phase != "backward" or node.forward is None:
        return False
    return nodes[node.forward].kind == "parameter"
