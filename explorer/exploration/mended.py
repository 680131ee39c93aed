"""An exploration that goes on as if the divergences were mended, and finds those behind them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import NamedTuple

import msgspec

from explorer.compare.align.alignment import Seamed
from explorer.compare.align.joints import Seam
from explorer.compare.graphs.layouts import in_one_layout
from explorer.compare.graphs.levels import with_levels
from explorer.compare.graphs.view import Slot
from explorer.compare.mending import Mending, give_the_same_results, large_slots, whole_of
from explorer.exploration.alike import Alike, alike_at, differs_so, once_more, trials_at
from explorer.exploration.explanations import Explanations
from explorer.model.alignment import Alignment
from explorer.model.arrays import Array
from explorer.model.causes import Cause, Trial, Tried
from explorer.model.divergence import Divergence, Places
from explorer.model.engines import Framework, engine_named
from explorer.model.graph import OTHER, GradGraph, Output, SideName
from explorer.model.known import Reference
from explorer.model.mended import Behind, End, Mended, MendedRun, PutIn

PUT_IN: tuple[Framework, ...] = ("torch", "jax")
"""The frameworks that can be run with other values, those that are preferred first."""

MOST_RUNS = 12
"""So often a net is computed again at most, and once more to explain what was seen last."""

MOST_ELEMENTS = 1 << 24
"""So many elements of large values are asked of the other side at most."""

Outputs = tuple[tuple[Output, ...], ...]
"""The outputs of each of some trials."""

Align = Callable[[GradGraph, GradGraph], Seamed]
"""Aligns two graphs of the main case."""


class MendedKey(msgspec.Struct, frozen=True):
    """The key of the job that captures an engine's graph with values of the ``other`` engine.

    That of the trials on the other engine's graph ``is_beside`` it.
    """

    engine: str
    other: str
    run: int
    is_beside: bool = False


class Wish(NamedTuple):
    """What is to be run next for one alignment.

    ``put_in`` are the values to be put in, ``trials`` are made on what is then computed. ``others`` are
    trials on the plain graph of the other engine.
    """

    put_in: tuple[PutIn, ...]
    trials: tuple[Trial, ...]
    others: tuple[Trial, ...]


class Target(NamedTuple):
    """What a cause that is found belongs to: a divergence of the plain computation, or one behind."""

    what: str
    number: int


class Course:
    """The runs of one engine with the values of another, and what was seen in them."""

    def __init__(
        self, seamed: Seamed, left: GradGraph, right: GradGraph, side: SideName, align: Align
    ) -> None:
        self._first = seamed
        self._side: SideName = side
        self._here, self._there = (left, right) if side == "left" else (right, left)
        self._held = self._there.by_id()
        self._align = align
        self._laid = in_one_layout(left, right)
        self._mending = Mending(self._laid, side)
        self._behind: list[Behind] = []
        self._waiting: list[tuple[Explanations, tuple[Target, ...]]] = []
        self._causes: dict[int, Cause] = {}
        self._first_causes: dict[int, Cause] = {}
        self._known: dict[int, tuple[Reference, ...]] = {}
        self._alike: list[tuple[Alike, Target]] = []
        self._also_at: dict[Target, list[Places]] = {}
        self._differing: tuple[str, ...] = ()
        self._runs = 0
        self._change_nothing = False
        self._is_new = False
        self.end: End = ""

    @property
    def engine(self) -> str:
        """The engine that is computed again."""
        return self._here.engine

    @property
    def other(self) -> str:
        """The engine whose values are put in."""
        return self._there.engine

    def wanted(self) -> tuple[Slot, ...]:
        """The large values of the other side that may be put in, most of all those at divergences."""
        at_once = [node for node, _ in self._mending.wanted(self._first.seams)]
        other = OTHER[self._side]
        later = [lone.node for lone in self._first.alignment.unpaired if lone.side == other]
        results = [node.id for node in self._there.nodes if node.kind == "output"]
        names = dict.fromkeys((*at_once, *later, *results))
        return tuple(large_slots(self._there, names, MOST_ELEMENTS))

    def begin(self, causes: Sequence[Cause | None] = ()) -> None:
        """Put in the values at the divergences that are known, of which some have ``causes``."""
        self._mend(*self._first)
        for number, cause in enumerate(causes):
            if cause is not None:
                self._first_causes[number] = cause
                self._spread(Target("first", number))

    def wish(self) -> Wish | None:
        """The next run; None where nothing is left to be run."""
        trials, others = self._trials(self.engine), self._trials(self.other)
        if self.end or not (self._is_new or trials or others):
            return None
        # What was seen in the last run is still to be explained.
        if self._runs >= MOST_RUNS + bool(trials or others):
            self.end = "rounds"
            return None
        return Wish(tuple(self._mending.put_in.values()), trials, others)

    def _trials(self, engine: str) -> tuple[Trial, ...]:
        """What is to be tried on a graph of an engine."""
        trials: tuple[Trial, ...] = ()
        for explanations, _ in self._waiting:
            trials += explanations.trials().get(engine, ())
        if engine == self.engine:
            for alike, target in self._alike:
                trials += trials_at(alike, self._cause_of(target))
        return trials

    def _divergence_of(self, target: Target) -> Divergence:
        if target.what == "behind":
            return self._behind[target.number].divergence
        return self._first.alignment.divergences[target.number]

    def _cause_of(self, target: Target) -> Cause:
        """The cause of a divergence of which one is known."""
        if target.what == "behind":
            cause = self._behind[target.number].cause
        else:
            known = self._first_causes.get(target.number)
            cause = known or self._causes.get(target.number)
        if cause is None:
            raise KeyError(target)
        return cause

    def _spread(self, target: Target) -> None:
        """Put in the values at places like one whose cause is known; the cause is then tried there."""
        cause, divergence = self._cause_of(target), self._divergence_of(target)
        graphs = self._from_here(self._laid.graphs)
        for alike in alike_at(divergence, cause, *graphs, self._side):
            if self._mending.join(alike.seam, self._find):
                self._alike.append((alike, target))
                self._is_new = True

    def _note_alike(self, outputs: Iterator[tuple[Output, ...]]) -> None:
        """Note at which places the known cause is one too; what is not like it is seen by itself."""
        for alike, target in self._alike:
            cause = self._cause_of(target)
            made = tuple(
                self._laid.as_seen(self._side, alike.node.id, one)
                for one in islice(outputs, len(trials_at(alike, cause)))
            )
            if len(made) == 2 and differs_so(alike, cause, made, self._laid.graphs):
                self._also_at.setdefault(target, []).append(alike.places)
            else:
                self._mending.part(alike.seam)
                self._is_new = True
        self._alike.clear()

    def _from_here(self, graphs: tuple[GradGraph, GradGraph]) -> tuple[GradGraph, GradGraph]:
        """The engine's own graph first."""
        return graphs if self._side == "left" else graphs[::-1]

    def go_on(self, run: MendedRun | None, others: Tried | None) -> None:
        """Note what came of the run that was wished for; None of one whose worker was lost."""
        had_new, self._is_new = self._is_new, False
        tried = {}
        if run is not None and run.graph is not None:
            tried[self.engine] = run.tried
        if others is not None:
            tried[self.other] = others.outputs
        self._note_causes(tried)
        if run is None or run.graph is None:
            self.end = "lost" if run is None else "raised"
            return
        graph = _leveled(run.graph, self._here)
        if graph is None:
            self.end = "other_graph"
            return
        self._runs += 1
        if self._runs == 1:
            is_whole = not self._mending.obstacles
            self._change_nothing = is_whole and give_the_same_results(graph, self._here)
        both = (graph, self._there) if self._side == "left" else (self._there, graph)
        self._see(self._align(*both), *both)
        if not (had_new or self._is_new):
            self._waiting.clear()  # the same was tried in this run, with the same values

    def _see(self, seamed: Seamed, left: GradGraph, right: GradGraph) -> None:
        alignment, seams = seamed
        divergences = alignment.divergences
        self._differing = alignment.differing
        found = self._mending.find(divergences, seams, alignment.pairs)
        values = len(self._mending.put_in)
        targets: list[Target | None] = [None] * len(divergences)
        for place in (*found.new, *found.known):
            number = self._first_named(seams[place].parts[self._side])
            if number is not None and number not in self._causes:
                targets[place] = Target("first", number)
        for place in found.new:
            if targets[place] is not None:
                continue
            targets[place] = Target("behind", len(self._behind))
            divergence = self._mending.without_known(divergences[place])
            self._behind.append(
                Behind(divergence=divergence, cause=None, run=self._runs, values=values)
            )
        self._try(alignment, targets, left, right)
        self._mending.obstacles.clear()
        self._mend(alignment, seams)

    def _try(
        self,
        alignment: Alignment,
        targets: list[Target | None],
        left: GradGraph,
        right: GradGraph,
    ) -> None:
        """Note what may be tried in the next run to explain the divergences of this one."""
        chosen = [place for place, target in enumerate(targets) if target is not None]
        if not chosen:
            return
        divergences = [alignment.divergences[place] for place in chosen]
        part = msgspec.structs.replace(
            alignment, divergence=divergences[0], further=tuple(divergences[1:]), causes=()
        )
        explanations = Explanations((part,), (left, right), other_steps=False)
        kept = tuple(target for target in targets if target is not None)
        self._waiting.append((explanations, kept))

    def _mend(self, alignment: Alignment, seams: Iterable[Seam]) -> None:
        """Put in the values at divergences, but for those that are not sure yet."""
        for divergence, seam in zip(alignment.divergences, seams, strict=True):
            if not seam.is_assumed:
                self._mending.note(seam)
                self._is_new |= self._mending.mend(divergence, seam, self._find)
        # What is paired by value here may not have been before; what was, is sure.
        names, pairs = alignment.differing, (*alignment.pairs, *self._first.alignment.pairs)
        self._is_new |= self._mending.mend_gradients(names, pairs, self._find)

    def _find(self, slot: Slot) -> Array | None:
        return whole_of(self._held, slot)

    def _first_named(self, parts: frozenset[str]) -> int | None:
        """The divergence of the plain computation at which some nodes take part."""
        for number, seam in enumerate(self._first.seams):
            if not parts.isdisjoint(seam.parts[self._side]):
                return number
        return None

    def _note_causes(self, tried: Mapping[str, Outputs]) -> None:
        """Note what explains the divergences of the last run; ``tried`` has the outcomes by engine."""
        outputs = {engine: iter(of_trials) for engine, of_trials in tried.items()}
        explained_now: list[Target] = []
        for explanations, targets in self._waiting:
            own = {}
            for engine, trials in explanations.trials().items():
                if engine in outputs:
                    own[engine] = Tried(tuple(islice(outputs[engine], len(trials))))
            (explained,) = explanations.explained(own)
            found = zip(targets, explained.causes, explained.known, strict=True)
            for target, cause, known in found:
                self._note_known(target, known)
                if cause is None:
                    continue
                if target.what == "behind":
                    behind = self._behind[target.number]
                    self._behind[target.number] = msgspec.structs.replace(behind, cause=cause)
                else:
                    self._causes.setdefault(target.number, cause)
                explained_now.append(target)
        self._waiting.clear()
        self._note_alike(outputs.get(self.engine, iter(())))
        for target in explained_now:
            self._spread(target)

    def _note_known(self, target: Target, known: tuple[Reference, ...]) -> None:
        """Note what is known of a divergence; what is known without its cause is so with it too."""
        if target.what == "first":
            self._known[target.number] = self._known.get(target.number, ()) or known
            return
        behind = self._behind[target.number]
        self._behind[target.number] = msgspec.structs.replace(behind, known=behind.known or known)

    def finished(self, alignment: Alignment) -> Alignment:
        """The alignment of the plain computation with all that was seen."""
        self._note_causes({})  # where the last run left nothing to be tried
        if not (self._runs or self._mending.obstacles or self.end):
            return alignment  # nothing is computed from what differs
        known = list(alignment.known or ((),) * len(alignment.divergences))
        for number, references in self._known.items():
            known[number] = known[number] or references
        causes = list(alignment.causes or (None,) * len(alignment.divergences))
        for number, cause in self._causes.items():
            causes[number] = causes[number] or cause
        causes = [
            self._with_places(cause, Target("first", number)) for number, cause in enumerate(causes)
        ]
        if self._change_nothing:
            # What changes no result is not to be written otherwise.
            causes = [it and msgspec.structs.replace(it, mends=()) for it in causes]
        mended = Mended(
            engine=self.engine,
            runs=self._runs,
            values=len(self._mending.put_in),
            behind=tuple(self._once_each(alignment.divergences, causes)),
            differing=self._differing,
            not_put_in=tuple(self._mending.obstacles.values()),
            end=self.end,
            change_nothing=self._change_nothing,
        )
        alignment = msgspec.structs.replace(
            alignment,
            causes=tuple(causes) if any(causes) else alignment.causes,
            known=tuple(known) if any(known) else alignment.known,
            mended=mended,
        )
        return self._without_refuted(alignment)

    def _once_each(
        self, divergences: Sequence[Divergence], causes: list[Cause | None]
    ) -> Iterator[Behind]:
        """What was seen behind; the cause of an earlier divergence gets the places that have it too."""
        for number, one in enumerate(self._behind):
            cause = self._with_places(one.cause, Target("behind", number))
            for place, divergence in enumerate(divergences):
                of_both = once_more(one.divergence, cause, divergence, causes[place])
                if of_both is not None:
                    causes[place] = of_both
                    break
            else:
                yield msgspec.structs.replace(one, cause=cause)

    def _without_refuted(self, alignment: Alignment) -> Alignment:
        """An alignment without further divergences that were assumed, and are none as if mended."""
        kept = [
            place
            for place, seam in enumerate(self._first.seams)
            if place == 0 or not self._mending.is_refuted(seam)
        ]
        return msgspec.structs.replace(
            alignment,
            further=tuple(alignment.divergences[place] for place in kept[1:]),
            causes=tuple(it for place, it in enumerate(alignment.causes) if place in kept),
            attempts=tuple(it for place, it in enumerate(alignment.attempts) if place in kept),
            known=tuple(it for place, it in enumerate(alignment.known) if place in kept),
        )

    def _with_places(self, cause: Cause | None, target: Target) -> Cause | None:
        """A cause with the other places where it was tried and is one too."""
        places = self._also_at.get(target)
        return msgspec.structs.replace(cause, also_at=tuple(places)) if cause and places else cause


class Courses:
    """The courses of all alignments that have a divergence, by their two engines."""

    def __init__(self) -> None:
        self._all: dict[tuple[str, str], Course | None] = {}
        self._running: dict[MendedKey, Course] = {}
        self._run = 0

    def add(self, seamed: Seamed, left: GradGraph, right: GradGraph, align: Align) -> None:
        """Add the course of an alignment of two graphs."""
        self._all[left.engine, right.engine] = course(seamed, left, right, align)

    def wanted(self) -> dict[str, tuple[Slot, ...]]:
        """The large values that may be put in, by engine."""
        wanted: dict[str, dict[Slot, None]] = {}
        for one in filter(None, self._all.values()):
            wanted.setdefault(one.other, {}).update(dict.fromkeys(one.wanted()))
        return {engine: tuple(slots) for engine, slots in wanted.items() if slots}

    def begin(self, alignments: Iterable[Alignment] = ()) -> None:
        """Put in the values at the divergences that are known; ``alignments`` have the known causes."""
        causes = {(it.left, it.right): it.causes for it in alignments}
        for engines, one in self._all.items():
            if one is not None:
                one.begin(causes.get(engines, ()))

    def wishes(self) -> dict[MendedKey, Wish]:
        """The next run of each course that goes on."""
        self._run += 1
        wishes: dict[MendedKey, Wish] = {}
        self._running.clear()
        for one in filter(None, self._all.values()):
            wish = one.wish()
            if wish is not None:
                key = MendedKey(one.engine, one.other, self._run)
                wishes[key] = wish
                self._running[key] = one
        return wishes

    def go_on(self, outcome: Callable[[MendedKey], tuple[MendedRun | None, Tried | None]]) -> None:
        """Note the outcomes of the runs that were wished for, and of the trials beside them."""
        for key, one in self._running.items():
            one.go_on(*outcome(key))

    def finished(self, alignment: Alignment) -> Alignment:
        """An alignment with what was seen in its course."""
        engines = alignment.left, alignment.right
        if engines not in self._all:
            return alignment
        one = self._all[engines]
        if one is None:
            mended = Mended(engine="", end="no_engine")
            return msgspec.structs.replace(alignment, mended=mended)
        return one.finished(alignment)


def _leveled(graph: GradGraph, recorded: GradGraph) -> GradGraph | None:
    """A graph with the noise and the proofs of the recorded one; None where it is another graph."""
    forms = (
        [(node.id, node.op, len(node.outputs)) for node in it.nodes] for it in (graph, recorded)
    )
    one, other = forms
    if one != other:
        return None
    graph = with_levels(graph, recorded)
    nodes = [
        msgspec.structs.replace(node, proof=known.proof)
        for node, known in zip(graph.nodes, recorded.nodes, strict=True)
    ]
    return msgspec.structs.replace(graph, nodes=tuple(nodes))


def course(seamed: Seamed, left: GradGraph, right: GradGraph, align: Align) -> Course | None:
    """The course that an alignment with a divergence takes; None where neither engine can be run so."""
    sides: dict[SideName, GradGraph] = {"left": left, "right": right}
    for framework, (side, graph) in product(PUT_IN, sides.items()):
        if engine_named(graph.engine).framework == framework:
            return Course(seamed, left, right, side, align)
    return None
