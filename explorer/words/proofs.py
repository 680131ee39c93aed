"""How many values of a graph are proven, counted and in words."""

from collections.abc import Iterable, Iterator

import msgspec

from explorer.model.graph import GradGraph, Node
from explorer.text.language import _
from explorer.words.graphs import why_missing

PROVABLE = ("op", "accumulate")
"""The kinds of nodes that compute something."""


class ProofCounts(msgspec.Struct, frozen=True):
    """The op nodes of a graph by what was found when each was computed again, alone.

    ``refuted`` are ids; ``unproven`` counts nodes by the reason.
    """

    proven: int
    refuted: tuple[str, ...]
    unproven: dict[str, int]

    @property
    def op_nodes(self) -> int:
        """The number of nodes that were to be proven."""
        return self.proven + len(self.refuted) + sum(self.unproven.values())


def proofs(graph: GradGraph) -> ProofCounts:
    """The counts of a graph; nodes for which nothing was tried count nowhere."""
    nodes = [node for node in graph.nodes if node.kind in PROVABLE]
    proven = sum(node.proof == "proven" for node in nodes)
    unproven: dict[str, int] = {}
    for node in nodes:
        if node.proof == "unproven":
            absence = node.missing.get("proof")
            reason = why_missing(absence) if absence else ""
            unproven[reason] = unproven.get(reason, 0) + 1
    return ProofCounts(proven, tuple(node.id for node in refuted(graph)), unproven)


def refuted(graph: GradGraph) -> list[Node]:
    """The nodes whose value is not what their op yields."""
    return [node for node in graph.nodes if node.proof == "refuted"]


def last_stages(graphs: Iterable[GradGraph]) -> list[GradGraph]:
    """The graph of each engine's last stage, which alone has values."""
    return list({graph.engine: graph for graph in graphs}.values())


def in_words(counts: ProofCounts, above: ProofCounts | None = None) -> str:
    """The counts as a sentence: "57 of 58 op values proven; 1 unproven: it draws …".

    Where they are unproven for the one reason of those ``above``, it is not said again.
    """
    reasons = list(counts.unproven)
    if above and len(reasons) == 1 and reasons == list(above.unproven):
        text = _("{n} of {total} op values proven; {unproven} unproven for the same reason")
        unproven = counts.unproven[reasons[0]]
        return text.format(n=counts.proven, total=counts.op_nodes, unproven=unproven)
    clauses = [_("{n} of {total} op values proven").format(n=counts.proven, total=counts.op_nodes)]
    for reason, number in sorted(counts.unproven.items()):
        clauses.append(_("{n} unproven: {reason}").format(n=number, reason=reason))
    return _("; ").join(clauses)


def warnings(graph: GradGraph) -> Iterator[str]:
    """A sentence on each node whose value is refuted."""
    for node in refuted(graph):
        where = ", ".join((node.id, *node.source[:1]))
        text = _(
            "misread: what this explorer recorded as the value of {op} ({where}) is not what the op"
            " gives; the node is paired with nothing"
        )
        yield text.format(op=node.op, where=where)
