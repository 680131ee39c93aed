"""What is tried to explain the divergences of an exploration, and what of it does explain them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from explorer.compare.causes.candidates import Suspect, of_one_step, suspects_at
from explorer.compare.causes.choice import COSTS, attempts_at, cause_of, cost, joined
from explorer.compare.causes.from_values import related_cause
from explorer.compare.graphs.layouts import Laid, in_one_layout
from explorer.compare.graphs.view import GraphView
from explorer.compare.known.table import known
from explorer.model.alignment import Alignment
from explorer.model.causes import Attempts, Cause, Trial, Tried
from explorer.model.divergence import Divergence, ExtraOps
from explorer.model.graph import GradGraph

MANY = 8
"""So many divergences of an alignment are looked into with all that can be tried."""

BRIEF = 40
"""What is tried at each of the others: what comes first."""


class Explanation(NamedTuple):
    """What may explain a divergence: its place in an alignment, and that among alignments.

    ``engine`` is the one whose op is tried. A divergence may have one on each side.
    """

    alignment: int
    divergence: int
    engine: str
    suspect: Suspect


class Explanations:
    """All that may be explained in some alignments of ``graphs``.

    Where pairs may be a step of a loop apart, an op may not be said to read what ``other_steps`` made.
    ``may_be_tried`` says of an op, by the engine and the id of its node, whether it can be computed again.
    """

    def __init__(
        self,
        alignments: tuple[Alignment, ...] = (),
        graphs: Iterable[GradGraph] = (),
        other_steps: bool = True,
        may_be_tried: Callable[[str, str], bool] = lambda _engine, _node: True,
    ) -> None:
        self._may_be_tried = may_be_tried
        self._other_steps = other_steps
        self._alignments = alignments
        self._graphs = {graph.engine: graph for graph in graphs}
        self._laid: dict[tuple[str, str], Laid] = {}
        self._flows: dict[tuple[str, str], tuple[GraphView, GraphView]] = {}
        self._all = list(self._found())

    def _found(self) -> Iterator[Explanation]:
        for place, alignment in enumerate(self._alignments):
            for number, divergence in enumerate(alignment.divergences):
                flows = self._flows_of(alignment)
                for suspect in suspects_at(divergence, *flows):
                    engine = alignment.left if suspect.side == "left" else alignment.right
                    if not self._may_be_tried(engine, suspect.node.id):
                        continue
                    if not self._other_steps:
                        suspect = of_one_step(suspect, flows[suspect.side == "right"])
                    if number >= MANY:
                        suspect = suspect._replace(trials=suspect.trials[:BRIEF])
                    yield Explanation(place, number, engine, suspect)

    def trials(self) -> dict[str, tuple[Trial, ...]]:
        """What is to be tried, by engine."""
        trials: dict[str, tuple[Trial, ...]] = {}
        for explanation in self._all:
            wanted = trials.get(explanation.engine, ())
            trials[explanation.engine] = wanted + explanation.suspect.trials
        return trials

    def explained(self, tried: Mapping[str, Tried]) -> tuple[Alignment, ...]:
        """The alignments with the causes that were found, and with what is known of their divergences.

        ``tried`` has the outcomes by engine.
        """
        waiting = {engine: iter(outcome.outputs) for engine, outcome in tried.items()}
        causes: dict[tuple[int, int], Cause] = {}
        attempts: dict[tuple[int, int], list[Attempts]] = {}
        for alignment, divergence, engine, suspect in self._all:
            if engine not in waiting:
                continue
            laid = self._laid_of(self._alignments[alignment])
            outputs = tuple(
                laid.as_seen(suspect.side, suspect.node.id, next(waiting[engine]))
                for _ in suspect.trials
            )
            graphs = self._graphs_of(self._alignments[alignment])
            cause = cause_of(suspect, Tried(outputs), *graphs)
            known = causes.get((alignment, divergence))
            if cause and (known is None or cost(cause.edits) < cost(known.edits)):
                causes[alignment, divergence] = cause
            own = graphs[0] if suspect.side == "left" else graphs[1]
            made = attempts_at(suspect, Tried(outputs), own)
            attempts.setdefault((alignment, divergence), []).append(made)
        return tuple(
            self._with_causes(place, alignment, causes, attempts)
            for place, alignment in enumerate(self._alignments)
        )

    def _laid_of(self, alignment: Alignment) -> Laid:
        key = alignment.left, alignment.right
        if key not in self._laid:
            self._laid[key] = in_one_layout(*(self._graphs[engine] for engine in key))
        return self._laid[key]

    def _graphs_of(self, alignment: Alignment) -> tuple[GradGraph, GradGraph]:
        return self._laid_of(alignment).graphs

    def _flows_of(self, alignment: Alignment) -> tuple[GraphView, GraphView]:
        key = alignment.left, alignment.right
        if key not in self._flows:
            laid = self._laid_of(alignment)
            left, right = laid.graphs
            self._flows[key] = (
                GraphView(left, laid.moved["left"]),
                GraphView(right, laid.moved["right"]),
            )
        return self._flows[key]

    def _with_causes(
        self,
        place: int,
        alignment: Alignment,
        causes: Mapping[tuple[int, int], Cause],
        attempts: Mapping[tuple[int, int], list[Attempts]],
    ) -> Alignment:
        places = [(place, number) for number in range(len(alignment.divergences))]
        found = tuple(
            self._cause(alignment, divergence, causes.get(key))
            for key, divergence in zip(places, alignment.divergences, strict=True)
        )
        tried = tuple(joined(attempts.get(key, ())) for key in places)
        references = tuple(
            known(alignment, divergence, cause, self._flows_of(alignment))
            for divergence, cause in zip(alignment.divergences, found, strict=True)
        )
        return msgspec.structs.replace(alignment, causes=found, attempts=tried, known=references)

    def _cause(
        self, alignment: Alignment, divergence: Divergence, tried: Cause | None
    ) -> Cause | None:
        cause = _least(tried, divergence, self._flows_of(alignment))
        if cause is None:
            return None
        if isinstance(divergence, ExtraOps):
            # The other side has no such op to be given arguments: it may do that inside another one.
            own = tuple(mend for mend in cause.mends if mend.side == cause.side)
            cause = msgspec.structs.replace(cause, mends=own)
        return self._laid_of(alignment).in_own_axes(cause, divergence.nodes)


def _least(
    tried: Cause | None, divergence: Divergence, flows: tuple[GraphView, GraphView]
) -> Cause | None:
    """What was tried, or how the two values follow from one another, where that is less of a change."""
    if tried and tried.form != "removed" and cost(tried.edits) < COSTS["value"]:
        return tried
    related = related_cause(divergence, *flows)
    if tried is None or related is None:
        return tried or related
    if tried.form == "removed":
        # Of the same op, which then says what it does to what it reads.
        is_same = (related.side, related.node) == (tried.side, tried.node)
        return related if is_same and related.form == "removed_op" else tried
    return related
