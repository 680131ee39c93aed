"""What is tried to explain the divergences of two graphs, and what of it does explain them."""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from explorer.compare.causes.candidates import Suspect, of_one_step, suspects_at
from explorer.compare.causes.choice import COSTS, attempts_at, cause_of, cost, joined
from explorer.compare.causes.from_values import related_cause
from explorer.compare.graphs.layouts import in_one_layout
from explorer.compare.graphs.view import GraphView
from explorer.compare.known.table import known
from explorer.model.alignment import Alignment
from explorer.model.causes import Attempts, Cause, Trial, Tried
from explorer.model.divergence import Divergence, ExtraOps
from explorer.model.graph import GradGraph, Output

MANY = 8
"""So many divergences of an alignment are looked into with all that can be tried."""

BRIEF = 40
"""What is tried at each of the others: what comes first."""

Waiting = Mapping[str, Iterator[tuple[Output, ...]]]
"""The outputs of trials by engine, in their order; each takes those of its own."""


class Explanations:
    """All that may explain the divergences of an alignment of two graphs.

    A divergence may have a suspect on each side. Where pairs may be a step of a loop apart, an op may not
    be said to read what ``other_steps`` made. ``may_be_tried`` says of an op, by the engine and the id of
    its node, whether it can be computed again.
    """

    def __init__(
        self,
        alignment: Alignment,
        graphs: tuple[GradGraph, GradGraph],
        other_steps: bool = True,
        may_be_tried: Callable[[str, str], bool] | None = None,
    ) -> None:
        self._alignment = alignment
        self._laid = in_one_layout(*graphs)
        left, right = self._laid.graphs
        moved = self._laid.moved
        self._views = GraphView(left, moved["left"]), GraphView(right, moved["right"])
        self._suspects: list[tuple[int, str, Suspect]] = []
        for number, divergence in enumerate(alignment.divergences):
            for suspect in suspects_at(divergence, *self._views):
                engine = alignment.left if suspect.side == "left" else alignment.right
                if may_be_tried is not None and not may_be_tried(engine, suspect.node.id):
                    continue
                if not other_steps:
                    suspect = of_one_step(suspect, self._views[suspect.side == "right"])
                if number >= MANY:
                    suspect = suspect._replace(trials=suspect.trials[:BRIEF])
                self._suspects.append((number, engine, suspect))

    def trials(self) -> dict[str, tuple[Trial, ...]]:
        """What is to be tried, by engine."""
        trials: dict[str, tuple[Trial, ...]] = {}
        for _number, engine, suspect in self._suspects:
            trials[engine] = trials.get(engine, ()) + suspect.trials
        return trials

    def explained(self, tried: Waiting) -> Alignment:
        """The alignment with the causes that were found, and with what is known of its divergences."""
        alignment, graphs = self._alignment, self._laid.graphs
        causes: dict[int, Cause] = {}
        attempts: dict[int, list[Attempts]] = {}
        for number, engine, suspect in self._suspects:
            if engine not in tried:
                continue
            made = Tried(
                tuple(
                    self._laid.as_seen(suspect.side, suspect.node.id, next(tried[engine]))
                    for _ in suspect.trials
                )
            )
            cause, best = cause_of(suspect, made, *graphs), causes.get(number)
            if cause and (best is None or cost(cause.edits) < cost(best.edits)):
                causes[number] = cause
            own = graphs[suspect.side == "right"]
            attempts.setdefault(number, []).append(attempts_at(suspect, made, own))
        found = tuple(
            self._cause(divergence, causes.get(number))
            for number, divergence in enumerate(alignment.divergences)
        )
        references = tuple(
            known(alignment, divergence, cause, self._views)
            for divergence, cause in zip(alignment.divergences, found, strict=True)
        )
        at_each = tuple(joined(attempts.get(number, ())) for number in range(len(found)))
        return msgspec.structs.replace(alignment, causes=found, attempts=at_each, known=references)

    def _cause(self, divergence: Divergence, tried: Cause | None) -> Cause | None:
        """What was tried, or how the two values follow from one another, where that is less of a change."""
        cause = tried
        if tried is None or tried.form == "removed" or cost(tried.edits) >= COSTS["value"]:
            related = related_cause(divergence, *self._views)
            if tried is None or (related is not None and tried.form != "removed"):
                cause = related
            elif related is not None and related.form == "removed_op":
                # Of the same op, which then says what it does to what it reads.
                is_same = (related.side, related.node) == (tried.side, tried.node)
                cause = related if is_same else tried
        if cause is not None and isinstance(divergence, ExtraOps):
            # The other side has no such op to be given arguments: it may do that inside another one.
            own = tuple(mend for mend in cause.mends if mend.side == cause.side)
            cause = msgspec.structs.replace(cause, mends=own)
        return cause and self._laid.in_own_axes(cause, divergence.nodes)
