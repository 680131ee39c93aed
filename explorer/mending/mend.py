"""The patch that makes two nets give the same: tried one after the other, and proven by running both."""

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from explorer.exploration import stored
from explorer.exploration.options import RunOptions, Wanted
from explorer.mending.candidates import Spot, candidates, layers_made_for
from explorer.mending.hints import Net
from explorer.mending.source import Changes, Source
from explorer.mending.trying import Trier, copies
from explorer.model.alignment import Seen
from explorer.model.engines import ENGINES, engine_named
from explorer.model.graph import Node, SideName
from explorer.model.patch import Patch, Proof
from explorer.model.report import Report
from explorer.model.requests import CaseRequest
from explorer.scenario.common_start import settle
from explorer.scenario.declaration import Declaration
from explorer.scenario.reader import read
from explorer.store.store import Store
from explorer.workers.workers import Workers

MOST_TRIED = 1000
"""So many changes are run at most, for each of the mistakes."""

MOST_NEAR = 8
"""So many of those that come near are compared whole."""

MOST_MISTAKES = 3
"""So many mistakes are mended one after the other."""

MOST_TOGETHER = 12
"""Of so many changes at each of two divergences pairs are tried."""


def mend(
    scenario: Declaration,
    engines: tuple[str, str],
    workers: Workers,
    store: Store,
    side: SideName | None = None,
    device: str = "cpu",
) -> tuple[Report, Patch | None]:
    """The report on two engines, and a patch with which they agree, if one was found.

    By default the port is mended: the side that is not PyTorch's, of two others the right one. A patch is
    one with which every case matches in a copy, and no divergence is left. Raises what ``explored`` does.
    """
    asks = _Asks(engines, workers, store, device)
    report = asks.report(scenario)
    alignment = next(iter(report.alignments), None)
    if alignment is None or alignment.is_same:
        return report, None
    return report, _Search(scenario, report, asks, side or _port(engines)).patch()


class _Asks(NamedTuple):
    """What is asked of two engines."""

    engines: tuple[str, str]
    workers: Workers
    store: Store
    device: str

    def report(self, scenario: Declaration) -> Report:
        """The report on the main case of a net."""
        options = RunOptions(engines=self.engines, cases="main", oracle=False, device=self.device)
        wanted = options.of_one_case(scenario).wanted(scenario)
        return stored.explored(scenario, wanted, self.workers, self.store)

    def proof(self, scenario: Declaration) -> Proof:
        """What all cases of a net give in the engines of both frameworks, and the graphs of the main one."""
        frameworks = {engine_named(it).framework for it in self.engines}
        engines = tuple(name for name, engine in ENGINES.items() if engine.framework in frameworks)
        wanted = Wanted(engines=engines, oracle=False, device=self.device)
        report = stored.explored(scenario, wanted, self.workers, self.store)
        alignments = [it for it in report.alignments if {it.left, it.right} == set(self.engines)]
        return Proof(
            engines=engines,
            cases=len(report.cases),
            matching=sum(case.verdict in ("match", "close", "all_raise") for case in report.cases),
            differing=tuple(name for it in alignments for name in it.differing),
            has_divergence=any(it.divergence for it in alignments) or not alignments,
        )


def _port(engines: tuple[str, str]) -> SideName:
    """The side that is mended unless another one is named."""
    left, right = (engine_named(engine).framework for engine in engines)
    return "left" if right == "torch" and left != "torch" else "right"


class _Search:
    """The search for a patch of one side of two engines' nets, which has mended ``mistakes`` before."""

    def __init__(
        self, scenario: Declaration, report: Report, asks: _Asks, side: SideName, mistakes: int = 0
    ) -> None:
        self._scenario = scenario
        self._report = report
        self._alignment = report.alignments[0]
        self._asks = asks
        self._side: SideName = side
        self._mistakes = mistakes
        pair = (self._alignment.left, self._alignment.right)
        self._own, self._other = pair if side == "left" else pair[::-1]
        self._source = Source.of(scenario.path)
        own, other = (engine_named(it).framework for it in (self._own, self._other))
        self._net = Net(self._source, own, other, side)

    def patch(self) -> Patch | None:
        """The first change with which nothing differs, alone or with others behind it."""
        trier = self._trier()
        if trier is None:
            return None
        near = 0
        with copies(self._scenario.path) as made:
            for changes, seen in self._each():
                if trier.tried >= MOST_TRIED or near >= MOST_NEAR:
                    return None
                copy = made.with_text(self._source.changed(changes))
                if trier.is_near(copy):
                    near += 1
                    found = self._proven(copy) or self._further(copy)
                    if found:
                        causes = tuple(one.cause for one in seen if one.cause)
                        return replace(
                            found,
                            file=str(self._scenario.path),
                            before=self._source.text,
                            causes=(*causes, *found.causes),
                            tried=found.tried + trier.tried,
                        )
        return None

    def _proven(self, copy: Path) -> Patch | None:
        """A patch that makes a copy of the file; None where something still differs."""
        scenario = read(copy)
        alignment = next(iter(self._asks.report(scenario).alignments), None)
        if alignment is None or not alignment.is_same:
            return None
        proof = self._asks.proof(scenario)
        text = Source.of(copy).text
        return (
            Patch(file=str(copy), before=text, after=text, proof=proof) if proof.is_whole else None
        )

    def _further(self, copy: Path) -> Patch | None:
        """A patch of a copy in which a mistake is mended, and another one is not."""
        if self._mistakes + 1 >= MOST_MISTAKES:
            return None
        scenario = read(copy)
        report = self._asks.report(scenario)
        if not report.alignments or not report.alignments[0].divergence:
            return None
        return _Search(scenario, report, self._asks, self._side, self._mistakes + 1).patch()

    def _each(self) -> Iterator[tuple[Changes, tuple[Seen, ...]]]:
        """The changes to be tried, each once, with the divergences that they are for.

        First the likeliest of each divergence, then two of these together, then all others by turns.
        """
        known: set[str] = {self._source.text}
        spots = [spot for spot in map(self._spot, self._alignment.seen) if spot]
        streams = [self._fresh(candidates(spot), known) for spot in spots]
        firsts: list[list[Changes]] = []
        for spot, stream in zip(spots, streams, strict=True):
            firsts.append(list(itertools.islice(stream, MOST_TOGETHER)))
            for changes in firsts[-1]:
                yield changes, (spot.seen,)
        for (one, first), (other, second) in itertools.combinations(
            zip(spots, firsts, strict=True), 2
        ):
            both = (_joined(*pair) for pair in itertools.product(first, second))
            for changes in self._fresh(filter(None, both), known):
                yield changes, (one.seen, other.seen)
        rest = list(zip(spots, streams, strict=True))
        while rest:
            for at in tuple(rest):
                spot, stream = at
                some = tuple(itertools.islice(stream, MOST_TOGETHER))
                yield from ((changes, (spot.seen,)) for changes in some)
                if not some:
                    rest.remove(at)

    def _fresh(self, found: Iterable[Changes], known: set[str]) -> Iterator[Changes]:
        """Those of this side's net whose text is Python's, and other than any that is known."""
        for changes in found:
            text = self._source.changed(changes)
            if text in known or not self._net.holds(changes):
                continue
            known.add(text)
            try:
                Source(text)
            except SyntaxError:
                continue
            yield changes

    # Where

    def _spot(self, seen: Seen) -> Spot | None:
        own, other = self._lines(seen, self._own), self._lines(seen, self._other)
        statements = [it for it in map(self._source.statement_at, other) if it is not None]
        statements += [it for at in statements for it in layers_made_for(self._source, at)]
        own = tuple(dict.fromkeys((*own, *self._alike(statements))))
        if not own:
            return None
        at = 0 if self._side == "left" else 1
        node = self._nodes(self._own).get(seen.divergence.nodes[at] or "")
        return Spot(
            net=self._net,
            seen=seen,
            lines=own,
            others=tuple(dict.fromkeys(statements)),
            scope=node.scope if node else "",
        )

    def _lines(self, seen: Seen, engine: str) -> tuple[int, ...]:
        """The lines of a divergence that an engine's net has, those of its op first."""
        ours = {line for node in self._nodes(engine).values() for line in node.source}
        at = 0 if engine == self._alignment.left else 1
        node = self._nodes(engine).get(seen.divergence.nodes[at] or "")
        named = [*(node.source if node else ()), *_sources((seen.divergence, seen.cause))]
        name = self._scenario.path.name
        found = [
            it for it in dict.fromkeys(named) if it in ours and it.rpartition(":")[0].endswith(name)
        ]
        return tuple(int(it.rpartition(":")[2]) for it in found)

    def _alike(self, statements: Sequence[ast.stmt]) -> Iterator[int]:
        """The lines of this side's net that read most like a statement of the other one."""
        lines = (
            int(node.source[0].rpartition(":")[2])
            for node in self._nodes(self._own).values()
            if node.source and node.source[0].rpartition(":")[0].endswith(self._scenario.path.name)
        )
        own = [it for line in dict.fromkeys(lines) if (it := self._source.statement_at(line))]
        for statement in statements[:2]:
            words = _words(self._source.says(statement))
            likest = max(own, key=lambda it: _likeness(words, it, self._source), default=None)
            if likest is not None:
                yield likest.lineno

    def _nodes(self, engine: str) -> dict[str, Node]:
        graphs = [graph for graph in self._report.graphs if graph.engine == engine]
        return {node.id: node for graph in graphs[-1:] for node in graph.nodes}

    # Trying

    def _trier(self) -> Trier | None:
        """What asks the engine again; None where the other one has no answer."""
        case = next(it for it in self._report.cases if it.case.label == self._alignment.case)
        wanted = case.results.get(self._other)
        if wanted is None or wanted.outcome != "ok":
            return None
        workers, engines = self._asks.workers, self._asks.engines
        net = settle(self._scenario, workers, engines, self._report.devices).requests[self._own]
        return Trier(workers, net, CaseRequest(net, case.case), wanted)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _likeness(words: set[str], statement: ast.stmt, source: Source) -> float:
    """The share of words that a statement has in common with others."""
    own = _words(source.says(statement))
    return len(own & words) / max(len(own | words), 1)


def _joined(one: Changes, other: Changes) -> Changes | None:
    """Two changes together; None where they are of one place."""
    both = sorted((*one, *other))
    if any(first.end > second.start for first, second in itertools.pairwise(both)):
        return None
    return tuple(both)


def _sources(value: object) -> Iterator[str]:
    """All places "file:line" in a record."""
    if isinstance(value, str):
        name, _, line = value.rpartition(":")
        if name.endswith(".py") and line.isdigit():
            yield value
    elif isinstance(value, tuple):
        for it in value:
            yield from _sources(it)
    elif hasattr(value, "__struct_fields__"):
        for field in value.__struct_fields__:
            yield from _sources(getattr(value, field))
