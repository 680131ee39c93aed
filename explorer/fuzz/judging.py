"""What is seen of a random net: whether the engines, the oracle, and our own graphs agree on it."""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from explorer.model.engines import ENGINES
from explorer.model.report import CaseReport, Report
from explorer.model.results import LOST
from explorer.text.language import ENGLISH, said_in
from explorer.words.divergences import first_divergence
from explorer.words.graphs import why_no_graph
from explorer.words.unpaired import detail

Kind = Literal[
    "agrees", "refused", "raises", "differs", "values", "oracle", "graph", "lost", "fault"
]
"""A kind of sighting.

- "agrees": all engines and the oracle say the same
- "refused": a framework does not run the net at all
- "raises": some engines answer, and others raise
- "differs": some engines' gradients are not what the others and the oracle say
- "values": the gradients agree, but on the way to them the engines compute different values
- "oracle": all engines agree, and the oracle says otherwise
- "graph": a graph that we captured is not whole, or has a value that its op does not yield
- "lost": a worker was lost
- "fault": an error of the explorer itself
"""


class Sighting(msgspec.Struct, frozen=True):
    """What is seen of a net; ``engines`` are those that are to blame, as far as can be told.

    ``detail`` is what they say: their errors, the result that differs, the divergence.
    """

    kind: Kind
    engines: tuple[str, ...] = ()
    detail: str = ""

    def is_like(self, other: "Sighting") -> bool:
        """Whether two nets show the same mistake, as far as can be told; details are in words."""
        return (self.kind, self.engines) == (other.kind, other.engines)


AGREES = Sighting("agrees")

NOT_FINITE = "a number that is not finite against one that is"
"""What is said of a result that differs by no number."""


@said_in(ENGLISH)
def seen(report: Report) -> Sighting:
    """The first thing that is not right in a report on one case."""
    (case,) = report.cases
    for look in _LOOKS:
        for sighting in look(report, case):
            return sighting
    return AGREES


def _lost(_: Report, case: CaseReport) -> Iterator[Sighting]:
    engines = [name for name, result in case.results.items() if result.outcome in LOST]
    if engines:
        error = case.results[engines[0]].error
        yield Sighting("lost", tuple(engines), error.message if error else "")


def _refused(_: Report, case: CaseReport) -> Iterator[Sighting]:
    if not any(result.outcome == "ok" for result in case.results.values()):
        errors = [result.error for result in case.results.values() if result.error]
        yield Sighting("refused", tuple(case.results), errors[0].message if errors else "")


def _differs(_: Report, case: CaseReport) -> Iterator[Sighting]:
    if case.verdict == "differs":
        detail = case.greatest.leaf if case.greatest else ""
        if case.greatest and not math.isfinite(case.greatest.abs):
            detail += f": {NOT_FINITE}"
        yield Sighting("differs", _to_blame(case), detail)


def _to_blame(case: CaseReport) -> tuple[str, ...]:
    """The engines that the oracle contradicts; where it is silent, those apart from most others."""
    answered = [name for name, result in case.results.items() if result.outcome == "ok"]
    refuted = [group for group in case.groups if group.oracle_agrees is False]
    wrong = [name for group in refuted for name in group.engines]
    if 0 < len(wrong) < len(answered):
        return tuple(wrong)
    apart = Counter(name for pair in case.apart for name in pair)
    # Who is apart from all others is to blame, where the others agree.
    most = max(apart.values(), default=0)
    return tuple(name for name in ENGINES if apart[name] == most)


def _raises(_: Report, case: CaseReport) -> Iterator[Sighting]:
    raised = {
        name: result.error
        for name, result in case.results.items()
        if result.outcome in ("raised", "unsupported")
    }
    if raised:
        texts = [f"{error.type}: {error.message}" for error in raised.values() if error]
        yield Sighting("raises", tuple(raised), " | ".join(dict.fromkeys(texts)))


def _oracle(_: Report, case: CaseReport) -> Iterator[Sighting]:
    if case.oracle_agrees is False:
        yield Sighting("oracle", tuple(case.results))


def _graph(report: Report, case: CaseReport) -> Iterator[Sighting]:
    for engine, problem in report.ungraphed.items():
        if case.results[engine].outcome == "ok":
            yield Sighting("graph", (engine,), f"no graph: {why_no_graph(problem)}")
    for pair in report.alignments:
        for wrong in pair.contradictions:
            if wrong.reason == "refuted":
                side = pair.left if wrong.side == "left" else pair.right
                yield Sighting(
                    "graph", (side,), f"{wrong.node}: {detail(wrong, (pair.left, pair.right))}"
                )


def _values(report: Report, _: CaseReport) -> Iterator[Sighting]:
    for pair in report.alignments:
        engines = (pair.left, pair.right)
        if pair.divergence:
            yield Sighting("values", engines, first_divergence(pair))
        for wrong in pair.contradictions:
            yield Sighting(
                "values", engines, f"{wrong.node}: {detail(wrong, (pair.left, pair.right))}"
            )


_LOOKS: tuple[Callable[[Report, CaseReport], Iterator[Sighting]], ...] = (
    _lost,
    _refused,
    _differs,
    _raises,
    _oracle,
    _graph,
    _values,
)
