"""Cases in words: how they compare, which engines say what, and how the oracle judges them."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from explorer.model.engines import (
    FRAMEWORK_LABELS,
    REFEREES,
    Framework,
    Style,
    engine_named,
)
from explorer.model.report import (
    ORACLE,
    Agreement,
    CaseReport,
    CaseVerdict,
    Difference,
    Report,
    Unanswered,
)
from explorer.model.results import ANSWERED, LOST, Estimate, Outcome
from explorer.text.clean import clean
from explorer.text.language import _, later, named
from explorer.text.numbers import multiple
from explorer.words import lists
from explorer.words.scenarios import said, said_reasons

VERDICTS: dict[CaseVerdict, str] = {
    "match": later("match"),
    "close": later("close"),
    "differs": later("differs"),
    "drawn": later("drawn"),
    "all_raise": later("all raise"),
    "some_raise": later("some raise"),
    "not_compared": later("alone"),
}
"""The name of each verdict."""

SEPARATOR = later(", ")
"""What stands between the parts of a list."""

# Counts


Kind = Literal[
    "match",
    "close",
    "match_within",
    "close_within",
    "drawn",
    "differs",
    "some_raise",
    "rejected",
    "not_compared",
]
"""How a case is counted: by its verdict, and by whether both frameworks gave a gradient."""

COUNTED: dict[Kind, tuple[str, str]] = {
    "match": (later("1 matches"), later("{n} match")),
    "close": (later("1 is close"), later("{n} are close")),
    "match_within": (
        later("1 matches within the only framework that answered"),
        later("{n} match within the only framework that answered"),
    ),
    "close_within": (
        later("1 is close within the only framework that answered"),
        later("{n} are close within the only framework that answered"),
    ),
    "drawn": (
        later("1 depends on random numbers in every value"),
        later("{n} depend on random numbers in every value"),
    ),
    "differs": (later("1 differs"), later("{n} differ")),
    "some_raise": (
        later("1 raises in some engines only"),
        later("{n} raise in some engines only"),
    ),
    "rejected": (
        later("1 raises in every engine"),
        later("{n} raise in every engine"),
    ),
    "not_compared": (
        later("1 was answered by fewer than two engines"),
        later("{n} were answered by fewer than two engines"),
    ),
}
"""How many cases there are of a kind: one, and several."""


def summary(report: Report) -> str:
    """The outcome of the whole matrix in a sentence."""
    return _summary(report.cases, report)


def summary_of(shown: Sequence[CaseReport], report: Report) -> str:
    """The outcome of some cases of a report; of all of them, the report's own summary."""
    if len(shown) == len(report.cases):
        return _summary(report.cases, report)
    some = _("{n} of {total}").format(n=len(shown), total=count_of_cases(len(report.cases)))
    if not shown:
        return some
    return _("{cases}: {outcome}").format(cases=some, outcome=_outcome(shown))


def _summary(cases: Sequence[CaseReport], report: Report) -> str:
    parts = [count_of_cases(len(cases))]
    if cases:
        whole = _("{cases}: {outcome}")
        parts = [whole.format(cases=parts[0], outcome=_outcome(cases))]
    divergences = sum(not alignment.expected for alignment in report.alignments)
    if divergences:
        one, several = (
            _("1 pair of graphs has an unexpected divergence"),
            _("{n} pairs of graphs have an unexpected divergence"),
        )
        parts.append(counted(divergences, one, several))
    findings = sum(finding.is_alarm for finding in report.findings)
    if findings:
        one, several = (
            _("1 finding about the nets themselves"),
            _("{n} findings about the nets themselves"),
        )
        parts.append(counted(findings, one, several))
    if not has_compared(report):
        parts.append(_("no gradient was compared"))
    return _("; ").join(parts)


def count_of_cases(number: int) -> str:
    """A number of cases: "28 cases"."""
    return counted(number, _("1 case"), _("{n} cases"))


def _outcome(cases: Sequence[CaseReport]) -> str:
    """How many cases there are of each kind, and how many are unexpected."""
    counts = Counter(map(kind_of, cases))
    parts = []
    for kind, (one, several) in COUNTED.items():
        if counts[kind]:
            text = counted(counts[kind], _(one), _(several))
            parts.append(text + _must(cases) if kind == "rejected" else text)
    unexpected = sum(not case.expected for case in cases)
    tail = _("{n} unexpected").format(n=unexpected) if unexpected else _("all as expected")
    return _("{counts}; {tail}").format(counts=_(SEPARATOR).join(parts), tail=tail)


def _must(cases: Iterable[CaseReport]) -> str:
    """How many of the cases that raise in every engine have to."""
    rejected = [case for case in cases if case.verdict == "all_raise"]
    must = sum(case.case.must_fail for case in rejected)
    if must == len(rejected):
        return _(" (as required)")
    return _(" (as {n} must)").format(n=must) if must else ""


def counted(number: int, one: str, several: str) -> str:
    """A text with a number: that for one, or that for several, which has a place for it."""
    return (one if number == 1 else several).format(n=number)


def kind_of(case: CaseReport) -> Kind:
    """How a case is counted.

    By its verdict, but for cases in which only one of the two frameworks gave a gradient: that its
    engines agree says nothing of the other.
    """
    if case.verdict == "all_raise":
        return "rejected"
    frameworks = {engine_named(name).framework for name in answered(case)}
    if len(frameworks) == 1:
        if case.verdict == "match":
            return "match_within"
        if case.verdict == "close":
            return "close_within"
    return case.verdict


def has_compared(report: Report) -> bool:
    """Whether at least two engines gave a gradient in any case."""
    return any(len(answered(case)) > 1 for case in report.cases)


def answered(case: CaseReport) -> list[str]:
    """The engines that gave what was asked for."""
    return [name for name, result in case.results.items() if result.outcome == "ok"]


# Engines


def verdict(case: CaseReport) -> str:
    """The verdict on a case; where some engines raise, it says which: "only PyTorch raises"."""
    if case.verdict != "some_raise":
        return _(VERDICTS[case.verdict])
    given = set(answered(case))
    raising = [name for name, result in case.results.items() if result.outcome in ANSWERED]
    raising = [name for name in raising if name not in given]
    frameworks = Counter(engine_named(name).framework for name in raising)
    others = {engine_named(name).framework for name in given}
    # One engine of a framework says nothing of its other style.
    if min(frameworks.values(), default=0) > 1 and others.isdisjoint(frameworks):
        raising = [FRAMEWORK_LABELS[framework] for framework in frameworks]
    text = _("only {engines} raises") if len(raising) == 1 else _("only {engines} raise")
    return text.format(engines=listed(raising))


def who(engines: Sequence[str], every_engine: Sequence[str]) -> str:
    """Some of ``every_engine``, in as few words as name them.

    "all engines", "all but torch-tape", "both graph engines", "both jax engines, torch-tape".
    """
    others = [name for name in every_engine if name not in engines]
    # Of two engines in all, "all" and "all but" tell less than their names.
    if len(engines) > 1 and len(others) < 2 and len(every_engine) > 2:
        return _("all but {engine}").format(engine=others[0]) if others else _("all engines")
    style = _whole_style(engines, every_engine)
    return _(OF_STYLE[style, min(len(engines), 3)]) if style else named(_shortly(engines))


OF_STYLE: dict[tuple[Style, int], str] = {
    ("tape", 2): later("both tape engines"),
    ("graph", 2): later("both graph engines"),
    ("tape", 3): later("all tape engines"),
    ("graph", 3): later("all graph engines"),
}
"""All engines of a style: two of them, or more."""

BOTH_ENGINES: dict[Framework, str] = {
    "mindspore": later("both mindspore engines"),
    "torch": later("both torch engines"),
    "jax": later("both jax engines"),
}
"""The two engines of a framework."""


def _whole_style(engines: Sequence[str], every_engine: Sequence[str]) -> Style | None:
    """The style of which ``engines`` are all that there are, if they are several."""
    styles = {engine_named(name).style for name in engines}
    if len(engines) < 2 or len(styles) > 1:
        return None
    (style,) = styles
    others = [name for name in every_engine if name not in engines]
    is_whole = all(engine_named(name).style != style for name in others)
    return style if is_whole else None


def _one_framework(engines: Sequence[str]) -> Framework | None:
    """The framework whose two engines ``engines`` are."""
    frameworks = {engine_named(name).framework for name in engines}
    return frameworks.pop() if len(engines) == 2 and len(frameworks) == 1 else None


def _shortly(parties: Sequence[str]) -> list[str]:
    """The names of parties, the two engines of a framework together: "both jax engines"."""
    engines = [name for name in parties if name != ORACLE]
    frameworks = {name: engine_named(name).framework for name in engines}
    counts = Counter(frameworks.values())
    names: dict[str, None] = {}
    for name in parties:
        framework = frameworks.get(name)
        if framework and counts[framework] == 2:
            names[_(BOTH_ENGINES[framework])] = None
        else:
            names[_(name)] = None
    return list(names)


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them: "a, b and c"."""
    return lists.listed([_(name) for name in names])


# What is unexpected


def reason(case: CaseReport) -> str:
    """Why a difference is expected, in the scenario's words, or what is unexpected; "" without either."""
    surprise = case.surprise
    if surprise is None:
        return said_reasons(case.reason)
    if isinstance(surprise, Unanswered):
        lost = []
        for outcome, engines in surprise.engines.items():
            lost.append(_(LOST_WORDS[outcome]).format(engines=listed(engines)))
        return _("; ").join(lost)
    if isinstance(surprise, Agreement):
        text = _("{engines} should differ from the others here, but agree: {reason}")
        return text.format(engines=listed(surprise.engines), reason=said(surprise.reason))
    one, other = surprise.one, surprise.other
    every = [name for name, result in case.results.items() if result.outcome in ANSWERED]
    if surprise.further:
        text = _(
            "each disagrees with the others: {sides}; the scenario declares no such difference"
        )
        sides = [_side(side, every) for side in (one, other, *surprise.further)]
        return text.format(sides=" / ".join(sides))
    if len(one) == len(other) == 1:
        text = _("{engines} disagree; the scenario declares no such difference")
        return text.format(engines=listed((*one, *other)))
    text = _("{one} disagree with {other}; the scenario declares no such difference")
    if len(one) == 1:
        text = _("{one} disagrees with {other}; the scenario declares no such difference")
    return text.format(one=_side(one, every), other=_side(other, every))


def _side(parties: Sequence[str], every_engine: Sequence[str]) -> str:
    """Parties that agree: "all engines", "a, b and c".

    In Chinese, where "and" is between the sides, commas are between the names.
    """
    if len(parties) < 2:
        return listed(parties)
    if list(parties) == list(every_engine) and len(parties) > 2:
        return who(parties, every_engine)
    *names, last = _shortly(parties)
    if not names:
        return last
    return _("{engines} and {engine}").format(engines=named(names), engine=last)


LOST_WORDS: dict[Outcome, str] = {
    "crashed": later("{engines} crashed"),
    "timed_out": later("{engines} timed out"),
}
"""What became of engines whose workers were lost."""

# Differences


def size(difference: Difference | None) -> str:
    """The greatest difference in a table's cell: its figure, or the name of what differs first."""
    # No difference, and one of nothing, read alike.
    if difference is None or (difference.what == "value" and not difference.abs):
        return "0"
    if difference.what != "value":
        return _(difference.what)
    return figure(difference.abs)


def figure(size: float) -> str:
    """The size of a difference in two digits, or that one side is not finite."""
    return _("nan or inf") if math.isinf(size) else f"{size:.2g}"


def greatest(difference: Difference | None) -> str:
    """The same with its ratio to the noise: "0.008, 240 × the noise"."""
    if difference is None or math.isinf(difference.abs) or not has_ratio(difference):
        return size(difference)
    text = _("{size}, {ratio} × the noise")
    return text.format(size=size(difference), ratio=multiple(difference.ratio))


def sized(verdict: str, size: str) -> str:
    """A verdict with the size of the difference, or what differs: "differs by 3", "close 2e-08"."""
    if verdict != _(VERDICTS["differs"]):
        return f"{verdict} {size}"
    text = _("differs by {size}") if size[:1].isdigit() else _("differs in {what}")
    return text.format(size=size, what=size)


def described(difference: Difference) -> str:
    """A difference in a sentence: where it is, how great, and between which engines."""
    one, other = difference.engines
    if difference.what != "value":
        what = _(difference.what)
        if difference.leaf:
            text = _("{what} of {leaf} differs between {one} and {other}: {detail}")
        else:
            text = _("{what} differs between {one} and {other}: {detail}")
        detail = difference.detail
        sentence = text.format(what=what, leaf=difference.leaf, one=one, other=other, detail=detail)
        return clean(sentence)
    where = place(difference.leaf, difference.index)
    if math.isinf(difference.abs):
        text = _(
            "at {place} one is nan or inf and the other is not the same, between {one} and {other}"
        )
        return clean(text.format(place=where, one=one, other=other))
    relative = _("{relative} of the greater").format(relative=f"{difference.rel:.2g}")
    if has_ratio(difference):
        noise = f"{difference.noise:.2g}"
        text = _("{relative}, {ratio} × the noise of {noise}")
        relative = text.format(relative=relative, ratio=multiple(difference.ratio), noise=noise)
    text = _("greatest at {place}: {size} ({relative}) between {one} and {other}")
    figure = f"{difference.abs:.3g}"
    sentence = text.format(place=where, size=figure, relative=relative, one=one, other=other)
    return clean(sentence)


def place(leaf: str, index: tuple[int, ...]) -> str:
    """An element as Python names it: "dx[2, 3]"; a tensor without axes by its name alone."""
    return f"{leaf}[{', '.join(map(str, index))}]" if index else leaf


def has_ratio(difference: Difference) -> bool:
    """Whether it is known how many times its noise a difference is."""
    return bool(difference.noise and difference.ratio and math.isfinite(difference.ratio))


# The oracle


Stand = Literal[
    "agrees",
    "kinked",
    "partly",
    "elsewhere",
    "along",
    "differs",
    "unjudged",
    "timed_out",
    "drawn",
    "not_run",
    "does_not_apply",
]
"""How the oracle judges a case.

It agrees: on every element, but for elements at a kink ("kinked") or of which it has no estimate
("partly") or that are nan or infinite in every engine alike ("elsewhere"), or along directions. It
differs; it cannot judge, for lack of any estimate; it ran out of
time; it does not judge what depends on random numbers; it was left out, or its worker was lost;
it does not apply.
"""

CELLS: dict[Stand, str] = {
    "agrees": later("agrees"),
    "kinked": later("agrees{along}, not at kinks"),
    "partly": later("agrees{along}, in part"),
    "elsewhere": later("agrees{along}, in part"),
    "along": later("agrees{along}"),
    "differs": later("differs"),
    "unjudged": later("cannot judge"),
    "timed_out": later("out of time"),
    "drawn": later("drawn"),
    "not_run": later("not run"),
    "does_not_apply": "",
}
"""The oracle's word on a case; ``along`` is along how many directions, where it is along some."""

STANDS: dict[Stand, str] = {
    "agrees": later("agrees on every element in {n}"),
    "kinked": later("agrees but at kinks, which have no derivative, in {n}"),
    "partly": later("agrees where it can judge in {n}"),
    "elsewhere": later("agrees but where every engine has the same nan or inf in {n}"),
    "along": later("agrees along random directions in {n}"),
    "differs": later("contradicts some engine in {n}"),
    "unjudged": later("cannot judge {n}"),
    "timed_out": later("ran out of time in {n}"),
    "drawn": later("does not judge {n}, in which all values are random"),
    "not_run": later("was not run on {n}"),
    "does_not_apply": later("does not apply to {n}"),
}
"""In how many cases the oracle stands so."""


NOT_RUN: tuple[Outcome, ...] = ("not_asked", *LOST)
"""Outcomes in which the oracle would have an answer if it ran again, or longer."""


def stand(report: CaseReport) -> Stand:
    """How the oracle judges a case."""
    judged = judged_estimates(report)
    if report.oracle_agrees is None:
        return _silence(report, judged)
    if not report.oracle_agrees:
        return "differs"
    if any(estimate.obstacles or estimate.not_finite for estimate in judged):
        return "partly"
    if report.not_finite_alike:
        return "elsewhere"
    if any(estimate.at_kinks for estimate in judged):
        return "kinked"
    return "along" if directions(report) else "agrees"


def _silence(report: CaseReport, judged: Sequence[Estimate]) -> Stand:
    """Why the oracle says nothing of a case."""
    if report.oracle.outcome == "timed_out":
        return "timed_out"
    if answered(report) and judged:
        return "unjudged"
    if report.oracle.outcome in NOT_RUN:
        return "not_run"
    return "drawn" if report.drawn and report.oracle.estimates else "does_not_apply"


def judged_estimates(report: CaseReport) -> list[Estimate]:
    """The estimates of what does not depend on random numbers."""
    drawn = set(report.drawn)
    return [estimate for estimate in report.oracle.estimates if not drawn & set(estimate.leaves)]


def directions(report: CaseReport) -> int:
    """Along how many directions at least the oracle judges a case; 0 where it does element by element."""
    judged = [it for it in judged_estimates(report) if it.not_finite < it.size]
    return min((it.directions for it in judged if it.directions), default=0)


def oracle(report: CaseReport) -> str:
    """The oracle's word on a case in a table's cell: "agrees", "agrees ·16" along 16 directions.

    Where it differs, the fewer of those that it confirms or refutes: "only torch", "only tape
    engines", "refutes torch-graph". "" where it does not apply.
    """
    judged = stand(report)
    confirmed, refuted = judged_by_oracle(report)
    if judged == "differs" and refuted:
        text, named = _("refutes {engines}"), refuted
        if 0 < len(confirmed) <= len(refuted):
            text, named = _("only {engines}"), confirmed
        return text.format(engines=_in_short(named, [*confirmed, *refuted]))
    number = directions(report)
    cell = _(CELLS[judged]).format(along=f" ·{number}" if number else "")
    if not report.has_two_nets:
        return cell
    frameworks = [of_net.framework for of_net in (report.oracle, *report.oracle.beside)]
    return _("{cell} ({framework} only)").format(cell=cell, framework=_(SEPARATOR).join(frameworks))


def _of_varied_nets(reports: Iterable[CaseReport]) -> list[str]:
    """The names of the frameworks whose nets the oracle runs."""
    found: dict[Framework, None] = {}
    for report in reports:
        for oracle in (report.oracle, *report.oracle.beside):
            if oracle.estimates:
                found[oracle.framework] = None
    return [FRAMEWORK_LABELS[framework] for framework in found or REFEREES[:1]]


def varied(reports: Iterable[CaseReport]) -> str:
    """Whose nets the oracle runs: "PyTorch's net"; of several, each judges its own engines."""
    frameworks = _of_varied_nets(reports)
    if len(frameworks) == 1:
        return _("{framework}'s net").format(framework=frameworks[0])
    first, *others = frameworks
    text = _("{framework}'s net and {others}'s, each for its own engines")
    return text.format(framework=first, others=lists.listed(others))


def named_nets(reports: Iterable[CaseReport]) -> str:
    """The same without what they judge: "PyTorch's net", "the nets of PyTorch and JAX"."""
    frameworks = _of_varied_nets(reports)
    if len(frameworks) == 1:
        return _("{framework}'s net").format(framework=frameworks[0])
    return _("the nets of {frameworks}").format(frameworks=lists.listed(frameworks))


def _in_short(engines: Sequence[str], every_engine: Sequence[str]) -> str:
    """What ``who`` says, in a cell's words: "tape engines", "graph engines", "torch"."""
    if len(every_engine) > 2:
        style, framework = _whole_style(engines, every_engine), _one_framework(engines)
        if style:
            return _("tape engines") if style == "tape" else _("graph engines")
        if framework:
            return framework
    return who(engines, every_engine)


def judged_by_oracle(report: CaseReport) -> tuple[list[str], list[str]]:
    """The engines whose results the oracle confirms, and those whose results it refutes."""
    confirmed: list[str] = []
    refuted: list[str] = []
    for group in report.groups:
        if group.oracle_agrees:
            confirmed += group.engines
        elif group.oracle_agrees is False:
            confirmed += group.confirmed
            others = {*group.confirmed, *group.unjudged}
            refuted += [name for name in group.engines if name not in others]
    return confirmed, refuted
