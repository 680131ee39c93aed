"""One leaf where the other graph reads two, or one tensor given as both: a sum of both gradients."""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from explorer.compare.causes.relations import FEW, Found
from explorer.compare.causes.rooms import noise_of, numbers_of, room_of
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import Cause, Related
from explorer.model.divergence import Divergence, ExtraOps
from explorer.model.graph import OTHER, Output

GRADIENT = "d"
"""What the name of a leaf's gradient begins with."""


def shared_leaf_cause(divergence: Divergence, left: GraphView, right: GraphView) -> Cause | None:
    """Which leaf a graph reads where the other one reads another leaf as well.

    It then sums the gradients of more uses, and has none of the other leaf, or the same one where both
    are one tensor.
    """
    if not isinstance(divergence, ExtraOps) or not divergence.gradients:
        return None
    here, there = (left, right) if divergence.side == "left" else (right, left)
    last = divergence.nodes[0 if divergence.side == "left" else 1]
    if last is None:
        return None
    names = [it.name for it in here.results(here.nodes[last])]
    for name, other, how in _pairs(names, here, there):
        values = _gradients(here)[name], _gradients(there)[name], _gradients(there)[other]
        # One tensor given as both may be a number; two leaves that are one are told by more than that.
        found = _sum(*values, Related(how=how, name=_leaf(other)), 1 if how == "aliased" else FEW)
        if found:
            return _cause(divergence, there, _leaf(name), found, values)
    return None


def _pairs(
    names: list[str], here: GraphView, there: GraphView
) -> Iterator[tuple[str, str, Literal["aliased", "shared"]]]:
    """The gradients of the other side whose sum one of ``names`` may be, and what that would say."""
    ours, theirs = _gradients(here), _gradients(there)
    if len(names) == 2 and theirs.keys() >= set(names) and _are_made_apart(there, names):
        yield names[0], names[1], "aliased"
    for name in names:
        if name in theirs:
            for other in _without_gradient(ours, theirs):
                yield name, other, "shared"


def _cause(
    divergence: ExtraOps, there: GraphView, leaf: str, found: Found, values: tuple[Output, ...]
) -> Cause | None:
    for node in there.graph.nodes:
        if node.name == leaf and node.kind in ("parameter", "input"):
            return Cause(
                side=OTHER[divergence.side],
                node=node.id,
                op=leaf,
                change=found.relation,
                greatest=found.apart,
                noise=noise_of(*values[:2]),
                layers=(None, None),
                tried=1,
            )
    return None


def _leaf(gradient: str) -> str:
    return gradient.removeprefix(GRADIENT)


def _gradients(flow: GraphView) -> dict[str, Output]:
    """The gradients that a graph yields, by name."""
    return {
        node.name: node.outputs[0]
        for node in flow.graph.nodes
        if node.kind == "output" and node.phase == "backward" and node.outputs
    }


def _without_gradient(ours: dict[str, Output], theirs: dict[str, Output]) -> Iterator[str]:
    """The gradients that only one of two graphs has, or that are zeros in the other one."""
    for name, output in theirs.items():
        numbers = numbers_of(ours[name]) if name in ours else np.zeros(1)
        if numbers_of(output) is not None and numbers is not None and not numbers.any():
            yield name


def _are_made_apart(flow: GraphView, names: list[str]) -> bool:
    """Whether a graph takes two results from different outputs."""
    makers: set[tuple[str, int]] = set()
    for node in flow.graph.nodes:
        if node.kind == "output" and node.phase == "backward" and node.name in names:
            makers.update((edge.origin, edge.output) for edge in flow.into(node))
    return len(makers) == len(names)


def _sum(own: Output, one: Output, other: Output, relation: Related, fewest: int) -> Found | None:
    """That a gradient is the sum of two of the other side; None where it is not.

    Of these at least ``fewest`` different elements are known, and not all are zeros.
    """
    total, first, second = numbers_of(own), numbers_of(one), numbers_of(other)
    if total is None or first is None or second is None:
        return None
    if not total.shape == first.shape == second.shape or not (first.any() and second.any()):
        return None
    if min(np.unique(first).size, np.unique(second).size) < fewest:
        return None
    apart = room_of(own, one).apart(first + second, total)
    return None if apart is None else Found(relation, apart)
