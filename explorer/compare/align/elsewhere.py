"""Where the two ops of a divergence correspond once more: one cause, at several places of a net."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import msgspec

from explorer.compare.align.contrasts import FoundDivergence, both
from explorer.compare.align.further import Correspondence, computed_from
from explorer.compare.align.matching import Matching
from explorer.compare.align.suspects import same_work
from explorer.compare.align.vertices import Vertex, in_order
from explorer.model.divergence import Inputs, OtherValue, Places

Ops = tuple[str, str]
"""The op of the first side, and of the second."""


def with_places(matching: Matching, findings: list[FoundDivergence]) -> list[FoundDivergence]:
    """The divergences, each between two ops of a kind with the other places of these ops.

    Two ops that differ by their formula do so wherever they are: where values are small they may
    agree within their noise, and behind the first divergence values cannot tell.
    """
    findings = [_with_rows(finding) for finding in findings]
    wanted = set(filter(None, map(_ops_of, findings)))
    if not wanted:
        return findings
    equal = _places(_equal(matching), wanted)
    taken = {node for finding in findings for node in finding.parts}
    pairs = _behind(matching, findings)
    behind = _places((pair for pair in pairs if taken.isdisjoint(pair)), wanted)
    # One line may be run several times, and differ in one of them.
    differing = [both(*finding.ends) for finding in findings if finding.ends]
    found = []
    for finding in findings:
        ops = _ops_of(finding)
        divergence = finding.divergence
        if ops and isinstance(divergence, OtherValue):
            agreeing = [places for places in equal.get(ops, ()) if places not in differing]
            divergence = msgspec.structs.replace(
                divergence, equal_at=tuple(agreeing), also_at=tuple(behind.get(ops, ()))
            )
        found.append(replace(finding, divergence=divergence))
    return found


def _ops_of(finding: FoundDivergence) -> Ops | None:
    """The two ops of a divergence; None where it is not one between two ops of a kind in forward."""
    if not isinstance(finding.divergence, OtherValue) or finding.ends is None:
        return None
    if finding.divergence.inputs != Inputs():
        return None  # they differ by what they read
    node, other = finding.ends
    if len(finding.parts) != 2 or node.phase == "backward" or not same_work(node, other):
        return None
    return (node.op, other.op) if node.side.is_first else (other.op, node.op)


def _places(pairs: Iterable[tuple[Vertex, Vertex]], wanted: set[Ops]) -> dict[Ops, list[Places]]:
    """Where pairs of the wanted ops are."""
    found: dict[Ops, list[Places]] = {}
    for node, other in pairs:
        ops = node.op, other.op
        if ops in wanted:
            found.setdefault(ops, []).append(both(node, other))
    return found


def _equal(matching: Matching) -> Iterator[tuple[Vertex, Vertex]]:
    for match in matching.matches:
        node, other = match.first.node, match.second.node
        if match.first.is_main and node.phase == other.phase and node.is_needed:
            yield node, other


def _behind(
    matching: Matching, findings: Iterable[FoundDivergence]
) -> Iterator[tuple[Vertex, Vertex]]:
    """The ops behind divergences that correspond by what they read, one for one."""
    findings = list(findings)
    behind: set[Vertex] = set()
    for finding in findings:
        behind |= computed_from(finding, matching)
    correspondence = Correspondence(findings, behind)
    for rows in correspondence.follow(matching.first.nodes):
        row, other_row = rows.work
        if len(row) == len(other_row) == 1:
            yield row[0], other_row[0]


# Formulas of several ops


def _with_rows(finding: FoundDivergence) -> FoundDivergence:
    """A divergence between two formulas of one line each, with the other places of these lines.

    The module and the line that calls it tell the places apart; they correspond in order.
    """
    divergence = finding.divergence
    if not isinstance(divergence, OtherValue) or finding.ends is None:
        return finding
    rows = [
        in_order(part for part in finding.parts if part.side is end.side) for end in finding.ends
    ]
    is_formula = max(map(len, rows)) > 1 and divergence.phase == "forward"
    if not is_formula or divergence.inputs.differing:
        return finding
    places, other_places = map(_occurrences, rows)
    if len(places) != len(other_places):
        return finding
    equal: list[Places] = []
    behind: list[Places] = []
    for row, other_row in zip(places, other_places, strict=True):
        if not finding.parts.isdisjoint((*row, *other_row)):
            continue
        found = equal if row[-1].partner is other_row[-1] else behind
        found.append(both(row[0], other_row[0]))
    divergence = msgspec.structs.replace(divergence, equal_at=tuple(equal), also_at=tuple(behind))
    return replace(finding, divergence=divergence)


def _occurrences(row: list[Vertex]) -> list[list[Vertex]]:
    """All rows of the ops of one row, at its line, in execution order."""
    first = row[0]
    ops = [node.op for node in row]
    by_place: dict[tuple[str, str], list[Vertex]] = {}
    for node in first.side.nodes:
        is_alike = node.phase == first.phase and node.source == first.source and node.op in ops
        if is_alike and node.main and not node.is_bookkeeping:
            by_place.setdefault((node.scope, node.caller), []).append(node)
    return [found for found in by_place.values() if [node.op for node in found] == ops]
