"""The oracle's word on cases, and why it says nothing of some elements."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from explorer.model.arrays import unpack
from explorer.model.report import CaseReport, NotFiniteAlike
from explorer.model.results import Estimate, ObstacleKind
from explorer.text.clean import clean
from explorer.text.failures import message
from explorer.text.language import _, later
from explorer.words.cases import (
    NOT_RUN,
    SEPARATOR,
    STANDS,
    judged_estimates,
    named_nets,
    place,
    stand,
    varied,
)

OBSTACLES: dict[ObstacleKind, str] = {
    "not_finite": later("the net returns nan or inf"),
    "border": later("beside the point the net is nan or inf ({places})"),
    "jump": later("the net jumps or is infinitely steep ({places})"),
    "kinks": later("kinks have no derivative ({places})"),
    "rough": later("a gradient of lower order is not smooth ({places})"),
    "time": later("its time was over ({places})"),
    "noise": later("rounding alone moves them by as much as their own size ({places})"),
}
"""Why some elements are not judged."""


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


def not_finite_alike(report: CaseReport) -> str:
    """What is nan or infinite in every engine alike though the oracle is finite; "" without that."""
    by_kind: dict[tuple[str, str], list[NotFiniteAlike]] = {}
    for alike in report.not_finite_alike:
        by_kind.setdefault((str(alike.value), _derivative(alike)), []).append(alike)
    sentences = []
    for (value, derivative), group in by_kind.items():
        places = [_elements(alike.leaf, alike.index, alike.count) for alike in group]
        first = group[0]
        text = ALIKE[derivative]
        if derivative == "known" and (len(group) > 1 or first.count > 1):
            text = SEVERAL
        sentences.append(
            _(text).format(
                value=value,
                places=_listed(places),
                estimate=f"{first.estimate or 0:.5g}",
                first=clean(place(first.leaf, first.index)),
            )
        )
    return _("; ").join(sentences)


def _derivative(alike: NotFiniteAlike) -> str:
    """What is known of the derivative where every engine has nan or infinity: a key of ALIKE."""
    if alike.at_kink:
        return "none"
    return "known" if alike.estimate is not None else "finite"


ALIKE = {
    "none": later("every engine has {value} at {places}: a kink, without a derivative"),
    "finite": later("every engine has {value} at {places}, where the derivative is finite"),
    "known": later("every engine has {value} at {places}, where the derivative is {estimate}"),
}
"""What every engine has, by what is known of the derivative."""

SEVERAL = later(
    "every engine has {value} at {places}, where the derivative is finite: {estimate} at {first}"
)
"""The same of several elements with a known derivative, of which the first is named."""


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
    whole = _("oracle (central differences in float64 of {nets}): {parts}")
    clauses = [whole.format(nets=varied(cases), parts=_(SEPARATOR).join(parts))]
    clauses += _without_estimate(cases)
    if any(case.has_two_nets for case in cases):
        clauses.append(_("it judges no engines whose net it cannot vary where the outputs differ"))
    if any(case.oracle.stops for case in cases):
        text = _("values detached in {nets} are treated as constants")
        clauses.append(text.format(nets=named_nets(cases)))
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
