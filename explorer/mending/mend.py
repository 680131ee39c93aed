"""The patch that makes two nets give the same: tried one after the other, and proven by running both."""

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from explorer.exploration import stored
from explorer.exploration.options import RunOptions, Wanted
from explorer.mending.candidates import Spot, candidates, layers_made_for
from explorer.mending.hints import Net
from explorer.mending.origin import Origin, folders
from explorer.mending.source import Changes, Source
from explorer.mending.trying import Trier
from explorer.model.alignment import Seen
from explorer.model.causes import Cause
from explorer.model.engines import ENGINES, engine_named, placed
from explorer.model.graph import Node, SideName
from explorer.model.patch import Mended, Patch, Proof
from explorer.model.report import Report
from explorer.model.requests import CaseRequest
from explorer.scenario.common_start import settle
from explorer.scenario.declaration import Declaration
from explorer.store.store import Store
from explorer.workers.workers import Workers

Edited = Mapping[str, Changes]
"""Changes by the file in which they are made."""

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
    side = side or _port(engines)
    origin = Origin(scenario, engine_named(engines[0 if side == "left" else 1]).framework)
    search = _Search(origin, report, asks, side)
    with folders() as empty:
        found = search.found(empty)
    return report, search.patch(found) if found else None


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
        homes = {(it.framework, it.environment) for it in map(engine_named, self.engines)}
        engines = tuple(
            placed(name, environment)
            for name, engine in ENGINES.items()
            for framework, environment in sorted(homes)
            if framework == engine.framework
        )
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


class _Found(NamedTuple):
    """Texts of files with which nothing differs, what they mend, and after how many changes."""

    texts: Mapping[str, str]
    proof: Proof
    causes: tuple[Cause, ...] = ()
    tried: int = 0


class _Search:
    """The search for a patch of one side of two engines' nets, which has mended ``mistakes`` before."""

    def __init__(
        self, origin: Origin, report: Report, asks: _Asks, side: SideName, mistakes: int = 0
    ) -> None:
        self._origin = origin
        self._report = report
        self._alignment = report.alignments[0]
        self._asks = asks
        self._side: SideName = side
        self._mistakes = mistakes
        pair = (self._alignment.left, self._alignment.right)
        self._own, self._other = pair if side == "left" else pair[::-1]
        self._other_origin = Origin(origin.declaration, engine_named(self._other).framework)

    def patch(self, found: _Found) -> Patch:
        """What was found, as a patch of the files that the search began with."""
        files = [
            Mended(str(self._origin.folder / name), self._origin.source(name).text, text)
            for name, text in found.texts.items()
        ]
        return Patch(files=tuple(files), causes=found.causes, tried=found.tried, proof=found.proof)

    def found(self, empty: Iterator[Path]) -> _Found | None:
        """The first change with which nothing differs, alone or with others behind it."""
        trier = self._trier()
        if trier is None:
            return None
        near = 0
        for edited, seen in self._each():
            if trier.tried >= MOST_TRIED or near >= MOST_NEAR:
                return None
            texts = {name: self._text(name, changes) for name, changes in edited.items()}
            copy = self._origin.with_texts(texts, next(empty))
            if not trier.is_near(copy.declaration.file):
                continue
            near += 1
            found = self._proven(copy, texts) or self._further(copy, empty)
            if found:
                causes = tuple(one.cause for one in seen if one.cause)
                return found._replace(
                    texts={**texts, **found.texts},
                    causes=(*causes, *found.causes),
                    tried=found.tried + trier.tried,
                )
        return None

    def _proven(self, copy: Origin, texts: Mapping[str, str]) -> _Found | None:
        """What was found, if nothing differs in a copy with these texts."""
        scenario = copy.read()
        alignment = next(iter(self._asks.report(scenario).alignments), None)
        if alignment is None or not alignment.is_same:
            return None
        proof = self._asks.proof(scenario)
        return _Found(texts, proof) if proof.is_whole else None

    def _further(self, copy: Origin, empty: Iterator[Path]) -> _Found | None:
        """What is found in a copy in which a mistake is mended, and another one is not."""
        if self._mistakes + 1 >= MOST_MISTAKES:
            return None
        report = self._asks.report(copy.read())
        if not report.alignments or not report.alignments[0].divergence:
            return None
        return _Search(copy, report, self._asks, self._side, self._mistakes + 1).found(empty)

    def _text(self, name: str, changes: Changes) -> str:
        return self._origin.source(name).changed(changes)

    def _each(self) -> Iterator[tuple[Edited, tuple[Seen, ...]]]:
        """The changes to be tried, each once, with the divergences that they are for.

        First the likeliest of each divergence, then two of these together, then all others by turns.
        """
        known: set[tuple[str, ...]] = set()
        spots = [spot for spot in map(self._spot, self._alignment.seen) if spot]
        streams = [self._fresh(_edited(spot), known) for spot in spots]
        firsts: list[list[Edited]] = []
        for spot, stream in zip(spots, streams, strict=True):
            firsts.append(list(itertools.islice(stream, MOST_TOGETHER)))
            for edited in firsts[-1]:
                yield edited, (spot.seen,)
        for (one, first), (other, second) in itertools.combinations(
            zip(spots, firsts, strict=True), 2
        ):
            both = (_joined(*pair) for pair in itertools.product(first, second))
            for edited in self._fresh(filter(None, both), known):
                yield edited, (one.seen, other.seen)
        rest = list(zip(spots, streams, strict=True))
        while rest:
            for at in tuple(rest):
                spot, stream = at
                some = tuple(itertools.islice(stream, MOST_TOGETHER))
                yield from ((edited, (spot.seen,)) for edited in some)
                if not some:
                    rest.remove(at)

    def _fresh(self, found: Iterable[Edited], known: set[tuple[str, ...]]) -> Iterator[Edited]:
        """Those of this side's net whose texts are Python's, and other than any that are known."""
        for edited in found:
            texts = {name: self._text(name, changes) for name, changes in edited.items()}
            is_held = all(self._net(name).holds(changes) for name, changes in edited.items())
            is_new = any(text != self._origin.source(name).text for name, text in texts.items())
            told = tuple(itertools.chain(*sorted(texts.items())))
            if told in known or not is_held or not is_new:
                continue
            known.add(told)
            try:
                for text in texts.values():
                    Source(text)
            except SyntaxError:
                continue
            yield edited

    def _net(self, name: str) -> Net:
        own, other = (engine_named(it).framework for it in (self._own, self._other))
        return Net(self._origin.source(name), own, other, self._side)

    # Where

    def _spot(self, seen: Seen) -> Spot | None:
        own = self._lines(seen, self._own, self._origin)
        others = self._lines(seen, self._other, self._other_origin)
        statements = list(_statements(self._other_origin, others))
        lines = list(dict.fromkeys((*own, *self._alike(statements))))
        if not lines:
            return None
        # The file of the likeliest line: what is to be changed is near.
        file = lines[0][0]
        at = 0 if self._side == "left" else 1
        node = self._nodes(self._own).get(seen.divergence.nodes[at] or "")
        return Spot(
            net=self._net(file),
            file=file,
            seen=seen,
            lines=tuple(line for name, line in lines if name == file),
            others=tuple(dict.fromkeys(it for _, it in statements)),
            scope=node.scope if node else "",
        )

    def _lines(self, seen: Seen, engine: str, origin: Origin) -> list[tuple[str, int]]:
        """The lines of a divergence that an engine's net has, those of its op first."""
        ours = {line for node in self._nodes(engine).values() for line in node.source}
        at = 0 if engine == self._alignment.left else 1
        node = self._nodes(engine).get(seen.divergence.nodes[at] or "")
        named = [*(node.source if node else ()), *_sources((seen.divergence, seen.cause))]
        places = (origin.place(it) for it in dict.fromkeys(named) if it in ours)
        return [place for place in places if place]

    def _alike(self, statements: Sequence[tuple[Source, ast.stmt]]) -> Iterator[tuple[str, int]]:
        """The lines of this side's net that read most like a statement of the other one."""
        sources = dict.fromkeys(
            node.source[0] for node in self._nodes(self._own).values() if node.source
        )
        places = [place for it in sources if (place := self._origin.place(it))]
        for source, statement in statements[:2]:
            words = _words(source.says(statement))
            likest = max(places, key=lambda it: self._likeness(words, *it), default=None)
            if likest is not None:
                yield likest

    def _likeness(self, words: set[str], name: str, line: int) -> float:
        """The share of words that a line's statement has in common with others."""
        source = self._origin.source(name)
        statement = source.statement_at(line)
        own = _words(source.says(statement)) if statement else set()
        return len(own & words) / max(len(own | words), 1)

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
        nets = settle(self._origin.declaration, workers, engines, self._report.devices)
        net = nets.requests[self._own]
        return Trier(workers, engine_named(self._own), CaseRequest(net, case.case), wanted)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _statements(
    origin: Origin, places: Iterable[tuple[str, int]]
) -> Iterator[tuple[Source, ast.stmt]]:
    """The statements at some lines, then those that make the layers that these call."""
    found: list[tuple[Source, ast.stmt]] = []
    for name, line in places:
        source = origin.source(name)
        statement = source.statement_at(line)
        if statement is not None:
            found.append((source, statement))
    yield from found
    for source, statement in found:
        yield from ((source, made) for made in layers_made_for(source, statement))


def _edited(spot: Spot) -> Iterator[Edited]:
    """The candidates of a divergence, in its file."""
    return ({spot.file: changes} for changes in candidates(spot))


def _joined(one: Edited, other: Edited) -> Edited | None:
    """Changes together; None where two are of one place."""
    joined = {}
    for name in {**one, **other}:
        both = sorted((*one.get(name, ()), *other.get(name, ())))
        if any(first.end > second.start for first, second in itertools.pairwise(both)):
            return None
        joined[name] = tuple(both)
    return joined


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
