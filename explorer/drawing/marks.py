"""What a picture says of a node beyond the node's own record."""

from collections.abc import Collection, Mapping

import msgspec

from explorer.drawing.shown import Shown
from explorer.drawing.structure import layer_of
from explorer.model.alignment import Alignment
from explorer.model.graph import Node


class Mark(msgspec.Struct, frozen=True):
    """What is said of one node in sight.

    ``number`` is the one that it shares with its pair in another picture. ``diverges`` is true
    where the first divergence from another graph lies in it. ``members`` are the nodes of the whole
    graph that it shows; ``is_module`` is true where it shows them instead of itself. ``layer`` is
    the layer of the framework that it runs in, "nn.BatchNorm2d".
    """

    number: int | None = None
    diverges: bool = False
    members: tuple[Node, ...] = ()
    is_module: bool = False
    layer: str = ""


PLAIN = Mark()
"""The mark of a node of which there is nothing to say."""

Marks = Mapping[str, Mark]
"""Marks by the ids of nodes; a node without one is PLAIN."""


def marks(shown: Shown, numbers: Mapping[str, int], diverging: Collection[str] = ()) -> Marks:
    """The mark of every node in sight.

    ``numbers`` are by ids in sight, ``diverging`` are ids of the whole graph.
    """
    diverging_homes = {shown.homes[node] for node in diverging}
    layers = shown.graph.layers
    marked = {}
    for node in shown.graph.nodes:
        path = layer_of(node.scope, layers)
        marked[node.id] = Mark(
            number=numbers.get(node.id),
            diverges=node.id in diverging_homes,
            members=shown.members.get(node.id, ()),
            is_module=node.id in shown.modules,
            layer="" if path is None else layers[path].name,
        )
    return marked


def diverging_nodes(alignment: Alignment | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The nodes of the left and of the right graph where the first divergence lies."""
    if alignment is None or alignment.divergence is None:
        return (), ()
    left, right = alignment.divergence.nodes
    return tuple(filter(None, (left,))), tuple(filter(None, (right,)))


def own_numbers(shown: Shown, numbers: Mapping[str, int]) -> dict[str, int]:
    """The pair numbers of the nodes that stand for themselves, of all in the whole graph.

    A number belongs to one node: a module has none, whatever nodes were merged into it.
    """
    return {node: numbers[node] for node in shown.apart(numbers)}


def shared_numbers(
    left: Shown, right: Shown, numbers: tuple[Mapping[str, int], Mapping[str, int]]
) -> tuple[dict[str, int], dict[str, int]]:
    """The pair numbers of the nodes in sight of two graphs.

    Nodes that stand for themselves on both sides keep theirs. Else two nodes are a pair where each
    shares more pairs with the other than with any else, under the least number of these.
    """
    left_own, right_own = own_numbers(left, numbers[0]), own_numbers(right, numbers[1])
    alone = set(left_own.values()) & set(right_own.values())
    left_numbers = _those_in(alone, left_own)
    right_numbers = _those_in(alone, right_own)

    shared = _numbers_by_pair(left, right, numbers)
    # The pair that shares most comes first; of equals, that of the least number.
    ranked = sorted(shared, key=lambda pair: (-len(shared[pair]), min(shared[pair])))
    best_of_left: dict[str, _HomePair] = {}
    best_of_right: dict[str, _HomePair] = {}
    for pair in ranked:
        best_of_left.setdefault(pair[0], pair)
        best_of_right.setdefault(pair[1], pair)
    for pair in ranked:
        is_mutual = best_of_left[pair[0]] == best_of_right[pair[1]] == pair
        has_number = pair[0] in left_numbers or pair[1] in right_numbers
        free = shared[pair] - alone
        if is_mutual and free and not has_number:
            left_numbers[pair[0]] = right_numbers[pair[1]] = min(free)
    return left_numbers, right_numbers


def _those_in(chosen: Collection[int], numbers: Mapping[str, int]) -> dict[str, int]:
    return {node: number for node, number in numbers.items() if number in chosen}


_HomePair = tuple[str, str]
"""The ids of two nodes in sight, one of each side."""


def _numbers_by_pair(
    left: Shown, right: Shown, numbers: tuple[Mapping[str, int], Mapping[str, int]]
) -> dict[_HomePair, set[int]]:
    """The pair numbers that any two nodes in sight share."""
    left_homes = _homes_by_number(left, numbers[0])
    right_homes = _homes_by_number(right, numbers[1])
    shared: dict[_HomePair, set[int]] = {}
    for number, homes in left_homes.items():
        for left_home in homes:
            for right_home in right_homes.get(number, ()):
                shared.setdefault((left_home, right_home), set()).add(number)
    return shared


def _homes_by_number(shown: Shown, numbers: Mapping[str, int]) -> dict[int, dict[str, None]]:
    """The nodes in sight that show nodes of each number, in the order of ``numbers``."""
    # Not sets: of pairs that share as many numbers the first counts, the same in every process.
    homes: dict[int, dict[str, None]] = {}
    for node, number in numbers.items():
        homes.setdefault(number, {})[shown.homes[node]] = None
    return homes
