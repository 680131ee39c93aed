"""A mended run: an engine goes on with the other's values where the two differ, to see what is behind."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from msgspec.structs import replace

from explorer.compare.align.alignment import Seam, Seamed
from explorer.compare.explained.explanations import (
    Explanations,
    FurtherPlace,
    differs_so,
    further_places,
    once_more,
)
from explorer.compare.explained.mending import Mending, give_the_same_results, large_slots
from explorer.compare.graphs.levels import have_one_form, with_levels
from explorer.model.alignment import Alignment, Seen
from explorer.model.causes import Trial, Tried
from explorer.model.divergence import Divergence, OtherValue
from explorer.model.engines import Framework, engine_named
from explorer.model.graph import OTHER, GradGraph, Output, SideName, Slot
from explorer.model.mended import End, Mended, MendedRun, PutIn
from explorer.workers.queue import JobOutcome

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


Outputs = tuple[tuple[Output, ...], ...]
"""The outputs of each of some trials."""

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
    not_put_in = mending.mend(alignment.divergences, seams)
    mending.mend_gradients(alignment.differing, alignment.pairs)
    seen = Sights(alignment, seams, mending)
    put_in: dict[Slot, PutIn] = {}
    refuted: set[int] = set()
    runs, differing, change_nothing = 0, tuple[str, ...](), False
    end: End = ""

    while True:
        own, others = seen.trials(here.engine), seen.trials(there.engine)
        is_tried = bool(own or others)
        if mending.put_in == put_in and not is_tried:
            break
        # What was seen in the last run is still to be explained.
        if runs >= MOST_RUNS + is_tried:
            end = "rounds"
            break
        before, put_in = put_in, dict(mending.put_in)
        run, *beside = yield Ask(here.engine, there.engine, tuple(put_in.values()), own, others)

        tried: dict[str, Outputs] = {}
        if isinstance(run, MendedRun) and run.graph is not None:
            tried[here.engine] = run.tried
        for made in beside:
            if isinstance(made, Tried):
                tried[there.engine] = made.outputs
        seen.explain(tried)
        graph = _leveled(run, here)
        if not isinstance(graph, GradGraph):
            end = graph
            break

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
        if not runs:
            change_nothing = not not_put_in and give_the_same_results(graph, here)
        runs += 1
        differing = again.alignment.differing
        seen.note(again, runs)
        not_put_in = mending.mend(again.alignment.divergences, again.seams)
        # What is paired by value here may not have been before; what was, is sure.
        pairs = (*again.alignment.pairs, *alignment.pairs)
        mending.mend_gradients(differing, pairs)
        if before == put_in == mending.put_in:
            break  # the same was tried in this run, with the same values
        seen.look_into(again.alignment, (left, right))

    seen.explain({})  # where the last run left nothing to be tried
    if not (runs or not_put_in or end):
        return alignment  # nothing is computed from what differs
    mended = Mended(
        engine=here.engine,
        runs=runs,
        values=len(mending.put_in),
        differing=differing,
        not_put_in=not_put_in,
        end=end,
        change_nothing=change_nothing,
    )
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
        self._alike = list(self._at_further_places(range(len(self.all))))

    def trials(self, engine: str) -> tuple[Trial, ...]:
        """What is to be tried on a graph of an engine in the next run."""
        trials = list(self._explanations.trials().get(engine, ())) if self._explanations else []
        if engine == self._mending.here.view.graph.engine:
            trials += [trial for place, _ in self._alike for trial in place.suspect.trials]
        return tuple(trials)

    def explain(self, tried: Mapping[str, Outputs]) -> None:
        """Note what explains the divergences of the last run; ``tried`` are the outcomes by engine."""
        waiting = {engine: iter(outputs) for engine, outputs in tried.items()}
        explained: list[int] = []
        if self._explanations is not None:
            part = self._explanations.explained(waiting)
            for (number, _), new in zip(self._last, part.seen, strict=True):
                one = self.all[number]
                cause, known = one.cause or new.cause, one.known or new.known
                self.all[number] = replace(one, cause=cause, known=known)
                explained += [number] if new.cause else []
        self._explanations = None
        self._explained.update(explained)

        outputs = waiting.get(self._mending.here.view.graph.engine, iter(()))
        for place, number in self._alike:
            does_differ = differs_so(place, outputs, self._mending.laid)
            cause = self.all[number].cause
            if cause and does_differ:
                cause = replace(cause, also_at=(*cause.also_at, place.places))
                self.all[number] = replace(self.all[number], cause=cause)
            else:
                self._mending.take_back(place.seam)
        self._alike = list(self._at_further_places(explained))

    def _at_further_places(self, explained: Iterable[int]) -> Iterator[tuple[FurtherPlace, int]]:
        """The places where a cause is tried too: the other side's values are put in there."""
        for number in explained:
            one, mending = self.all[number], self._mending
            if one.cause is not None:
                for place in further_places(one.divergence, one.cause, mending):
                    if mending.join(place.seam):
                        yield place, number

    def note(self, again: Seamed, run: int) -> None:
        """Note the divergences of a run that are new, and all that may be explained now."""
        self._last, side = [], self._mending.here.name
        for divergence, seam in zip(again.alignment.divergences, again.seams, strict=True):
            is_known = self._mending.is_known(divergence, seam)
            if seam.is_assumed and not is_known:
                continue  # it waits until it is sure
            plain = (
                place
                for place, it in enumerate(self._seams)
                if not it.parts[side].isdisjoint(seam.parts[side])
            )
            number = next(plain, None)
            if number is not None and self._is_behind(divergence, self.all[number].divergence):
                continue  # what was put in may lie in another order for what reads it
            if number is None or number in self._explained:
                if is_known:
                    continue
                number, values = len(self.all), len(self._mending.put_in)
                new = self._mending.without_known(divergence)
                self.all.append(Seen(new, run=run, values=values))
            self._last.append((number, divergence))

    def _is_behind(self, divergence: Divergence, known: Divergence) -> bool:
        """Whether a divergence is behind the last op of a known one."""
        here = self._mending.here
        place = 0 if here.name == "left" else 1
        end = known.rows[place].end if isinstance(known, OtherValue) else ""
        last, node = (
            here.nodes.get(it or "") for it in (end or known.nodes[place], divergence.nodes[place])
        )
        return last is not None and node is not None and node.order > last.order

    def look_into(self, alignment: Alignment, graphs: tuple[GradGraph, GradGraph]) -> None:
        """Try in the next run what may explain the divergences of this one."""
        if self._last:
            part = replace(alignment, seen=tuple(Seen(divergence) for _, divergence in self._last))
            self._explanations = Explanations(part, graphs, other_steps=False)


def _leveled(run: JobOutcome, recorded: GradGraph) -> GradGraph | End:
    """A run's graph with the noise and the proofs of the recorded one; or why there is none."""
    if not isinstance(run, MendedRun):
        return "lost"
    if run.graph is None:
        return "raised"
    if not have_one_form(run.graph, recorded):
        return "other_graph"
    nodes = [
        replace(node, proof=known.proof)
        for node, known in zip(run.graph.nodes, recorded.nodes, strict=True)
    ]
    graph = replace(run.graph, engine=recorded.engine, nodes=tuple(nodes))
    return with_levels(graph, recorded)


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
