"""Further divergences: places where graphs part that the first divergence does not explain."""

from collections.abc import Iterable, Iterator

from explorer.compare.align.divergence import (
    from_leaf,
    from_lone_leaf,
    from_missing,
    from_result,
    suspects_behind,
    two_ops,
)
from explorer.compare.align.matching import NOISE, Matching, Mismatch
from explorer.compare.align.one_sided import gradients_added, gradients_stopped
from explorer.compare.align.provenance import take_the_same
from explorer.compare.align.readings import Finding
from explorer.compare.align.sides import Vertex, reach
from explorer.compare.align.structure import followers, partings_by_structure
from explorer.compare.align.suspects import SILENT, Suspects, SuspectsBySide, same_work
from explorer.model.graph import Phase

MOST = 32
"""Further divergences that are looked for."""


def find_further(matching: Matching, first: Finding, missing: list[Vertex]) -> list[Finding]:
    """The places where two graphs part that are not computed from ``first``, nor from one another.

    Each is as sure as the first: ops that take equal inputs and give other values, leaves that
    differ, a gradient that one side stops, adds or lacks. Behind a divergence values cannot tell:
    there it is ops of another kind between the same ops.
    """
    if first.divergence is None:
        return []
    findings = [first]
    explained = _computed_from(first.parts)
    for finding in _candidates(matching, missing):
        if len(findings) > MOST:
            break
        if not _is_explained(finding, explained):
            findings.append(finding)
            explained |= _computed_from(finding.parts)
    findings += partings_by_structure(matching.first.nodes, findings, explained)
    findings += _unexplained_results(matching, findings)
    return sorted(findings[1:], key=_place)


def _unexplained_results(matching: Matching, findings: list[Finding]) -> Iterator[Finding]:
    """Gradients that differ, and that no divergence found so far leads to on each of its sides."""
    reached = [(finding.parts, _computed_from(finding.parts)) for finding in findings]
    for mismatch in matching.differing_results("backward"):
        if not any(_leads_to(parts, onwards, mismatch) for parts, onwards in reached):
            yield from_result(mismatch, "backward")


def _leads_to(parts: Iterable[Vertex], onwards: set[Vertex], mismatch: Mismatch) -> bool:
    return all(mismatch.on(part.side) in onwards for part in parts)


def _is_explained(finding: Finding, explained: set[Vertex]) -> bool:
    """Whether what takes part is computed from another divergence; a leaf is computed from none."""
    leaves = {part for part in finding.parts if part.is_leaf}
    return not explained.isdisjoint(leaves or finding.parts)


def _place(finding: Finding) -> tuple[bool, int, int]:
    """The sort key of a divergence: where it stands in the execution order of the two graphs."""
    is_in_backward = finding.divergence is not None and finding.divergence.phase == "backward"
    ranks = [part.rank for part in finding.parts]
    return is_in_backward, min(ranks), max(ranks)


def _computed_from(parts: Iterable[Vertex]) -> set[Vertex]:
    """Some nodes, and all that is computed from them before values agree again."""
    return reach(parts, lambda node: [user for user in node.consumers if not user.is_agreed])


def _candidates(matching: Matching, missing: list[Vertex]) -> Iterator[Finding]:
    """What may be a divergence of its own, in the order in which it would explain the rest."""
    in_forward = matching.differing_results("forward")
    in_backward = matching.differing_results("backward")
    # Where no result of forward differs, a difference in it may still show in the gradients.
    yield from _behind(matching, in_forward or in_backward, "forward")
    yield from _behind(matching, in_backward, "backward")
    yield from (from_missing(result) for result in missing)


def _behind(matching: Matching, results: list[Mismatch], phase: Phase) -> Iterator[Finding]:
    suspects_of = suspects_behind(matching, results, phase)
    if phase == "forward":
        suspects_of = {side: suspects.forward_only() for side, suspects in suspects_of.items()}
    yield from _leaves(matching, suspects_of, phase)
    if phase == "backward":
        yield from gradients_stopped(suspects_of)
        yield from gradients_added(suspects_of)
    yield from _ops(matching, suspects_of, phase)


def _leaves(matching: Matching, suspects_of: SuspectsBySide, phase: Phase) -> Iterator[Finding]:
    """Leaves among the suspects with another value on each side, or on one side only."""
    suspected: set[Vertex] = set()
    for suspects in suspects_of.values():
        suspected.update(suspects.nodes)
    for mismatch in matching.mismatches:
        if mismatch.first.is_leaf and not suspected.isdisjoint((mismatch.first, mismatch.second)):
            yield from_leaf(mismatch, phase)
    for suspects in suspects_of.values():
        for leaf in suspects.leaves():
            yield from_lone_leaf(leaf, suspects.user_of(leaf), phase)


def _ops(matching: Matching, suspects_of: SuspectsBySide, phase: Phase) -> Iterator[Finding]:
    """Two ops that take the same inputs and give other values, those of one kind first."""
    first, second = suspects_of.values()
    others = _by_inputs(second)
    for node in first.nodes:
        alike = others.get(frozenset(origin.counterpart for origin in node.origins), [])
        for other in sorted(alike, key=lambda other: not same_work(node, other)):
            if _part(matching, node, other):
                yield two_ops(matching, node, other, suspects_of, phase)
                break


def _by_inputs(suspects: Suspects) -> dict[frozenset[Vertex | None], list[Vertex]]:
    """The suspects by the set of what they read."""
    by_inputs: dict[frozenset[Vertex | None], list[Vertex]] = {}
    for node in suspects.nodes:
        by_inputs.setdefault(frozenset(node.origins), []).append(node)
    return by_inputs


def _part(matching: Matching, node: Vertex, other: Vertex) -> bool:
    value, other_value = node.value, other.value
    if node.phase != other.phase or value.size != other_value.size:
        return False
    # Ops of other kinds stand in the same place where the same kinds of ops follow.
    is_alike = same_work(node, other) or not followers(node).isdisjoint(followers(other))
    if not is_alike or node.family in SILENT or not take_the_same(node, other):
        return False
    is_different = value.agrees(other_value) is False
    return is_different and not matching.are_noise(value, other_value, NOISE)
