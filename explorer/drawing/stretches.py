"""Merges what follows one another in a long net into a few stretches of the forward and of the backward."""

from collections import Counter
from collections.abc import Mapping, Sequence

from explorer.drawing.collapse import Homes, Key, is_kept, merged
from explorer.drawing.folding import Folding
from explorer.drawing.links import Link, layers, links_among, neighbours
from explorer.drawing.modules import modules_of
from explorer.model.graph import GradGraph, Node
from explorer.text.numbers import counted


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
