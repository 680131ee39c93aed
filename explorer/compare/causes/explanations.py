"""What explains the divergences of two graphs: causes that are tried, and what is seen as if mended.

A mended run: an engine goes on with the other's values where the two differ, to see what is behind.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, product
from typing import NamedTuple

from msgspec.structs import replace

from explorer.compare.align.alignment import Seam, Seamed
from explorer.compare.causes.candidates import Suspect, of_one_step, suspects_at
from explorer.compare.causes.choice import COSTS, attempts_at, cause_of, cost, joined
from explorer.compare.causes.from_values import related_cause
from explorer.compare.causes.mending import (
    FurtherPlace,
    Mending,
    give_the_same_results,
    is_of_op,
    large_slots,
)
from explorer.compare.graphs.layouts import Laid, in_one_layout
from explorer.compare.graphs.levels import have_one_form, with_levels
from explorer.compare.graphs.view import GraphView
from explorer.compare.known.table import known
from explorer.model.alignment import Alignment, Seen
from explorer.model.causes import Cause, Trial, Tried
from explorer.model.divergence import Divergence, ExtraOps, OtherValue
from explorer.model.engines import Framework, engine_named
from explorer.model.graph import OTHER, GradGraph, Output, SideName, Slot
from explorer.model.mended import End, Mended, MendedRun, PutIn
from explorer.workers.queue import JobOutcome

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
        may_be_tried: Callable[[str, str], bool] = lambda *_: True,
    ) -> None:
        self._alignment = alignment
        self._laid = in_one_layout(*graphs)
        left, right = self._laid.graphs
        moved = self._laid.moved
        self._views = GraphView(left, moved["left"]), GraphView(right, moved["right"])
        # Of each divergence, each with the engine in which it is tried.
        self._suspects: list[list[tuple[str, Suspect]]] = []
        for number, divergence in enumerate(alignment.divergences):
            self._suspects.append([])
            for suspect in suspects_at(divergence, *self._views):
                engine = alignment.left if suspect.side == "left" else alignment.right
                if not may_be_tried(engine, suspect.node.id):
                    continue
                if not other_steps:
                    suspect = of_one_step(suspect, self._views[suspect.side == "right"])
                if number >= MANY:
                    suspect = suspect._replace(trials=suspect.trials[:BRIEF])
                self._suspects[-1].append((engine, suspect))

    def trials(self) -> dict[str, tuple[Trial, ...]]:
        """What is to be tried, by engine."""
        trials: dict[str, tuple[Trial, ...]] = {}
        for engine, suspect in chain.from_iterable(self._suspects):
            trials[engine] = trials.get(engine, ()) + suspect.trials
        return trials

    def explained(self, tried: Waiting) -> Alignment:
        """The alignment with the causes that were found, and with what is known of its divergences."""
        alignment, graphs = self._alignment, self._laid.graphs
        seen = []
        for divergence, suspects in zip(alignment.divergences, self._suspects, strict=True):
            found: list[Cause | None] = []
            attempts = []
            for engine, suspect in suspects:
                if engine in tried:
                    made = as_seen(suspect, tried[engine], self._laid)
                    found.append(cause_of(suspect, made, *graphs))
                    attempts.append(attempts_at(suspect, made, graphs[suspect.side == "right"]))
            least = min(filter(None, found), key=lambda it: cost(it.edits), default=None)
            cause = self._cause(divergence, least)
            references = known(alignment, divergence, cause, self._views)
            seen.append(Seen(divergence, cause, joined(attempts), references))
        return replace(alignment, seen=tuple(seen))

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
            cause = replace(cause, mends=own)
        return cause and self._laid.in_own_axes(cause, divergence.nodes)


def as_seen(suspect: Suspect, outputs: Iterator[tuple[Output, ...]], laid: Laid) -> Tried:
    """The next outputs of a suspect's trials, as they lie in the graphs that are compared."""
    made = islice(outputs, len(suspect.trials))
    return Tried(tuple(laid.as_seen(suspect.side, suspect.node.id, it) for it in made))


# What is seen as if the divergences were mended

PUT_IN: tuple[Framework, ...] = ("torch", "jax")
"""The frameworks that can be run with other values, those that are preferred first."""

MOST_RUNS = 12
"""So often a net is computed again at most, and once more to explain what was seen last."""

MOST_ELEMENTS = 1 << 24
"""So many elements of large values are asked of the other side at most."""


class Ask(NamedTuple):
    """What is run next: ``engine`` with the values of the ``other`` one, and trials on what it computes.

    ``others`` are trials on the plain graph of the other engine.
    """

    engine: str
    other: str
    put_in: tuple[PutIn, ...]
    trials: tuple[Trial, ...]
    others: tuple[Trial, ...]


Reply = Sequence[JobOutcome]
"""What came of the run, a MendedRun, and of trials beside it, a Tried; else a worker was lost."""


class Diverging(NamedTuple):
    """Two graphs with a divergence, and how they are aligned."""

    seamed: Seamed
    left: GradGraph
    right: GradGraph
    align: Callable[[GradGraph, GradGraph], Seamed]

    @property
    def sides(self) -> dict[SideName, GradGraph]:
        """The graphs by their sides."""
        return {"left": self.left, "right": self.right}

    @property
    def side(self) -> SideName | None:
        """The side that is computed again; None where neither engine can be run with other values."""
        for framework, (side, graph) in product(PUT_IN, self.sides.items()):
            if engine_named(graph.engine).framework == framework:
                return side
        return None

    def wanted(self) -> Iterator[tuple[str, Slot]]:
        """The large values at divergences and those that may be put in, each with its engine."""
        again, (alignment, seams) = self.side, self.seamed
        wanted: list[tuple[GradGraph, Iterable[str | None]]] = []
        for place, (side, graph) in enumerate(self.sides.items()):
            nodes = {it.nodes[place] for it in alignment.divergences}
            nodes.update(*(seam.parts[side] for seam in seams))
            read = [edge.origin for edge in graph.edges if edge.target in nodes]
            wanted.append((graph, (*nodes, *read)))
        if again is not None:
            there = self.sides[OTHER[again]]
            put_in = [it.there[0] for seam in seams for it in seam.joints[again] if it.there]
            put_in += [lone.node for lone in alignment.unpaired if lone.side == OTHER[again]]
            put_in += [node.id for node in there.nodes if node.kind == "output"]
            wanted.append((there, put_in))
        for graph, names in wanted:
            for slot in large_slots(graph, filter(None, dict.fromkeys(names)), MOST_ELEMENTS):
                yield graph.engine, slot


def as_if_mended(alignment: Alignment, of: Diverging) -> Generator[Ask, Reply, Alignment]:
    """An explained alignment with what is seen as if its divergences were mended.

    Yields what is to be run next, and is sent what came of it.
    """
    seams, side = of.seamed.seams, of.side
    if side is None:
        return replace(alignment, mended=Mended(engine="", end="no_engine"))
    here, there = of.sides[side], of.sides[OTHER[side]]
    mending = Mending(of.left, of.right, side)
    mended = Mended(engine=here.engine, not_put_in=mending.mend(alignment.divergences, seams))
    mending.mend_gradients(alignment.differing, alignment.pairs)
    seen = Sights(alignment, seams, mending)
    put_in: dict[Slot, PutIn] = {}
    refuted: set[int] = set()

    while True:
        own, others = seen.trials(here.engine), seen.trials(there.engine)
        is_tried = bool(own or others)
        if mending.put_in == put_in and not is_tried:
            break
        # What was seen in the last run is still to be explained.
        if mended.runs >= MOST_RUNS + is_tried:
            mended = replace(mended, end="rounds")
            break
        before, put_in = put_in, dict(mending.put_in)
        run, *beside = yield Ask(here.engine, there.engine, tuple(put_in.values()), own, others)

        graph = run.graph if isinstance(run, MendedRun) else None
        tried = {} if graph is None else {here.engine: iter(run.tried)}
        for made in beside:
            if isinstance(made, Tried):
                tried[there.engine] = iter(made.outputs)
        seen.explain(tried)
        if graph is None or not have_one_form(graph, here):
            why: End = (
                "other_graph" if graph else "raised" if isinstance(run, MendedRun) else "lost"
            )
            mended = replace(mended, end=why)
            break
        # The noise and the proofs are those of the recorded graph.
        nodes = tuple(
            replace(node, proof=known.proof)
            for node, known in zip(graph.nodes, here.nodes, strict=True)
        )
        graph = with_levels(replace(graph, engine=here.engine, nodes=nodes), here)

        # What differs now is new, or the gradient of what is known.
        left, right = (graph, there) if side == "left" else (there, graph)
        again = of.align(left, right)
        equal = mending.see(again.alignment.pairs)
        # What was assumed of the first graphs and is equal now was none.
        refuted = {
            place
            for place, seam in enumerate(seams)
            if seam.is_assumed and seam.parts[side] and seam.parts[side] <= equal
        }
        if not mended.runs:
            is_same = not mended.not_put_in and give_the_same_results(graph, here)
            mended = replace(mended, change_nothing=is_same)
        run, differing = mended.runs + 1, again.alignment.differing
        seen.note(again, run)
        left_out = mending.mend(again.alignment.divergences, again.seams)
        mended = replace(mended, runs=run, differing=differing, not_put_in=left_out)
        # What is paired by value here may not have been before; what was, is sure.
        mending.mend_gradients(differing, (*again.alignment.pairs, *alignment.pairs))
        if before == put_in == mending.put_in:
            break  # the same was tried in this run, with the same values
        seen.look_into(again.alignment, (left, right))

    seen.explain({})  # where the last run left nothing to be tried
    if not (mended.runs or mended.not_put_in or mended.end):
        return alignment  # nothing is computed from what differs
    mended = replace(mended, values=len(mending.put_in))
    return _with_all(alignment, seen.all, mended, refuted)


class Sights:
    """The divergences of the plain graphs, ``all`` with those behind them, and what may explain them."""

    def __init__(self, alignment: Alignment, seams: Sequence[Seam], mending: Mending) -> None:
        self._seams = seams
        self._mending = mending
        self.all = list(alignment.seen)
        self._explained: set[int] = set()
        self._explanations: Explanations | None = None
        self._last: list[tuple[int, Divergence]] = []  # by the places in all
        self._alike = self._at_further_places(range(len(self.all)))

    def trials(self, engine: str) -> tuple[Trial, ...]:
        """What is to be tried on a graph of an engine in the next run."""
        trials = self._explanations.trials().get(engine, ()) if self._explanations else ()
        alike = self._alike if engine == self._mending.here.view.graph.engine else []
        return (*trials, *(trial for place, _ in alike for trial in place.suspect.trials))

    def explain(self, tried: Waiting) -> None:
        """Note what explains the divergences of the last run; ``tried`` are the outcomes by engine."""
        explained: list[int] = []
        if self._explanations is not None:
            part = self._explanations.explained(tried)
            for (number, _), new in zip(self._last, part.seen, strict=True):
                one = self.all[number]
                cause, known = one.cause or new.cause, one.known or new.known
                self.all[number] = replace(one, cause=cause, known=known)
                explained += [number] if new.cause else []
        self._explanations = None
        self._explained.update(explained)

        outputs = tried.get(self._mending.here.view.graph.engine, iter(()))
        for place, number in self._alike:
            suspect, laid, cause = place.suspect, self._mending.laid, self.all[number].cause
            made = as_seen(suspect, outputs, laid)
            if cause and len(made.outputs) == len(suspect.trials) and made.outputs[0]:
                # The value that was put in is not what the op yields.
                suspect = suspect._replace(own=made.outputs[0][0])
                if cause_of(suspect, made, *laid.graphs) is not None:
                    cause = replace(cause, also_at=(*cause.also_at, place.places))
                    self.all[number] = replace(self.all[number], cause=cause)
                    continue
            self._mending.take_back(place.seam)
        self._alike = self._at_further_places(explained)

    def _at_further_places(self, explained: Iterable[int]) -> list[tuple[FurtherPlace, int]]:
        """The places where a cause is tried too: the other side's values are put in there."""
        places = self._mending.further_places
        return [(place, number) for number in explained for place in places(self.all[number])]

    def note(self, again: Seamed, run: int) -> None:
        """Note the divergences of a run that are new, and all that may be explained now."""
        self._last, here = [], self._mending.here
        side, place = here.name, here.name == "right"
        for divergence, seam in zip(again.alignment.divergences, again.seams, strict=True):
            is_known = self._mending.is_known(divergence, seam)
            if seam.is_assumed and not is_known:
                continue  # it waits until it is sure
            plain = (
                number
                for number, it in enumerate(self._seams)
                if not it.parts[side].isdisjoint(seam.parts[side])
            )
            number = next(plain, None)
            if number is not None:
                known = self.all[number].divergence
                end = known.rows[place].end if isinstance(known, OtherValue) else ""
                last = here.nodes.get(end or known.nodes[place] or "")
                node = here.nodes.get(divergence.nodes[place] or "")
                # What was put in may lie in another order for what reads it, behind the last op.
                if last and node and node.order > last.order:
                    continue
            if number is None or number in self._explained:
                if is_known:
                    continue
                number, values = len(self.all), len(self._mending.put_in)
                new = self._mending.without_known(divergence)
                self.all.append(Seen(new, run=run, values=values))
            self._last.append((number, divergence))

    def look_into(self, alignment: Alignment, graphs: tuple[GradGraph, GradGraph]) -> None:
        """Try in the next run what may explain the divergences of this one."""
        if self._last:
            part = replace(alignment, seen=tuple(Seen(divergence) for _, divergence in self._last))
            self._explanations = Explanations(part, graphs, other_steps=False)


def _with_all(
    alignment: Alignment, seen: list[Seen], mended: Mended, refuted: set[int]
) -> Alignment:
    """An alignment with all that was seen, without further divergences that are none as if mended."""
    plain, behind = seen[: len(alignment.seen)], []
    if mended.change_nothing:
        # What changes no result is not to be written otherwise.
        plain = [replace(it, cause=it.cause and replace(it.cause, mends=())) for it in plain]
    for one in seen[len(plain) :]:
        # The cause of an earlier divergence gets the places that have it too.
        for place, earlier in enumerate(plain):
            of_both = once_more(one, earlier)
            if of_both is not None:
                plain[place] = of_both
                break
        else:
            behind.append(one)
    kept = [one for place, one in enumerate(plain) if place == 0 or place not in refuted]
    return replace(alignment, seen=(*kept, *behind), mended=mended)


def once_more(one: Seen, earlier: Seen) -> Seen | None:
    """An earlier divergence whose cause has the place of one too; None where that has another cause.

    The same two ops differ at both, by the same change of one of them.
    """
    cause, known = one.cause, earlier.cause
    if not (cause and known and is_of_op(cause)):
        return None
    both = one.divergence, earlier.divergence
    rows = [it.rows for it in both if isinstance(it, OtherValue)]
    ops = [[(row.first.label, row.last) for row in it] for it in rows]
    if len(ops) < 2 or (ops[0], cause.side, cause.edits) != (ops[1], known.side, known.edits):
        return None
    left, right = rows[0]
    places = (*known.also_at, (left.first, right.first), *cause.also_at)
    return replace(earlier, cause=replace(known, also_at=places))
