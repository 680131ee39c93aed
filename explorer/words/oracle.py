"""The oracle's word on cases, and why it says nothing of some elements."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from explorer.model.arrays import unpack
from explorer.model.report import CaseReport, Overflow
from explorer.model.results import Estimate, ObstacleKind
from explorer.text.clean import clean
from explorer.text.failures import message
from explorer.text.language import _, later
from explorer.words.cases import NOT_RUN, SEPARATOR, STANDS, judged_estimates, place, stand

OBSTACLES: dict[ObstacleKind, str] = {
    "not_finite": later("the net returns nan or inf"),
    "border": later("beside the point the net is nan or inf ({places})"),
    "jump": later("the net jumps or is infinitely steep ({places})"),
    "kinks": later("kinks have no derivative ({places})"),
    "rough": later("a gradient of lower order is not smooth ({places})"),
    "time": later("its time was over ({places})"),
}
"""Why there is no estimate of some elements."""


def obstacles(estimates: Iterable[Estimate]) -> str:
    """Why some elements have no estimate, each reason with its places; "" where all have one."""
    by_kind: dict[ObstacleKind, list[str]] = {}
    for estimate in estimates:
        for obstacle in estimate.obstacles:
            where = _elements(estimate.name, obstacle.index, obstacle.count)
            by_kind.setdefault(obstacle.kind, []).append(where)
    reasons = []
    for kind, text in OBSTACLES.items():
        if kind in by_kind:
            reasons.append(_(text).format(places=_listed(by_kind[kind])))
    return _(SEPARATOR).join(reasons)


def kinks(estimates: Iterable[Estimate]) -> str:
    """The elements at a kink."""
    places = []
    for estimate in estimates:
        if estimate.kinks is None:
            continue
        found = np.argwhere(unpack(estimate.kinks) > 0)
        index = () if estimate.directions else tuple(map(int, found[0]))
        places.append(_elements(estimate.name, index, len(found)))
    return _listed(places)


def overflows(report: CaseReport) -> str:
    """What overflows in every engine alike; "" where nothing does."""
    return _(SEPARATOR).join(map(_overflow, report.overflows))


def _overflow(found: Overflow) -> str:
    text = _("{places} is {value} in every engine and {estimate} in float64")
    if found.count > 1:
        text = _("{places} are {value} in every engine, the first is {estimate} in float64")
    return text.format(
        places=_elements(found.leaf, found.index, found.count),
        value=str(found.value),
        estimate=f"{found.estimate:.5g}",
    )


FEW = 3
"""So many leaves are named at most."""


def _listed(places: Sequence[str]) -> str:
    shown = list(places[:FEW])
    others = len(places) - FEW
    if others == 1:
        shown.append(places[-1])  # no longer than to say that there is one
    elif others > 1:
        shown.append(_("{n} others").format(n=others))
    return _(SEPARATOR).join(shown)


def _elements(name: str, index: tuple[int, ...], count: int) -> str:
    where = clean(place(name, index))
    if not index or count == 1:
        return where
    return _("{place} and {n} more").format(place=where, n=count - 1)


# All cases


def oracle_summary(cases: Sequence[CaseReport]) -> str:
    """How the oracle judges all cases, in a line."""
    counts = Counter(map(stand, cases))
    parts = [_(text).format(n=counts[where]) for where, text in STANDS.items() if counts[where]]
    whole = _("oracle (central differences in float64 of PyTorch's net): {parts}")
    clauses = [whole.format(parts=_(SEPARATOR).join(parts))]
    clauses += _without_estimate(cases)
    if any(case.has_two_nets for case in cases):
        clauses.append(
            _("it does not judge MindSpore's engines where the outputs of the two nets differ")
        )
    if any(case.oracle.stops for case in cases):
        clauses.append(_("values detached in the PyTorch net are treated as constants"))
    silence = oracle_silence(cases)
    if silence:
        clauses.append(silence)
    return _("; ").join(clauses)


def _without_estimate(cases: Sequence[CaseReport]) -> list[str]:
    """Why some elements have no estimate, for the first case of all with that."""
    for case in cases:
        reasons = obstacles(judged_estimates(case))
        if reasons and case.oracle_agrees is not False:
            return [_("it cannot judge where {reasons}").format(reasons=reasons)]
    return []


def oracle_silence(reports: Sequence[CaseReport]) -> str:
    """Why the oracle says nothing of any case, where the net is the reason; else empty."""
    if any(report.oracle.estimates for report in reports):
        return ""
    for report in reports:
        error = report.oracle.error
        if error and (error.type == "UsageError" or report.oracle.outcome in NOT_RUN):
            return message(error).splitlines()[0]
    return ""
