"""What is said of cases in the visitor's language; in English as every other face says it."""

import math
from collections import Counter
from collections.abc import Sequence

from explorer.model.engines import ENGINES
from explorer.model.report import CaseReport, Difference, Report
from explorer.report.scenario import wording
from explorer.report.scenario.overview import has_compared, kind_of
from explorer.report.wording import NOTHING
from explorer.text.clean import clean
from explorer.text.language import _, later
from explorer.text.numbers import multiple

COUNTED = {
    "match": later("{n} match"),
    "close": later("{n} close"),
    "match_within": later("{n} match within the only framework that answered"),
    "close_within": later("{n} close within the only framework that answered"),
    "must": later("{n} fail everywhere as they must"),
    "raise": later("{n} raise everywhere"),
    "drawn": later("{n} depend on random numbers in every value"),
    "differs": later("{n} differ"),
    "some_raise": later("{n} raise in some engines only"),
    "not_compared": later("{n} answered by fewer than two engines"),
}
"""How many cases there are of a kind, as ``kind_of`` tells it."""

STOPS = later("what the PyTorch net cuts off from its tape (detach, no_grad) it takes for constant")
"""What the oracle says of a net that stops gradients."""

SEPARATOR = later(", ")
"""What stands between the parts of a list."""


def summary(report: Report) -> str:
    """The outcome of the whole matrix in a sentence."""
    kinds = Counter(map(kind_of, report.cases))
    counts = [_(text).format(n=kinds[kind]) for kind, text in COUNTED.items() if kinds[kind]]
    total = len(report.cases)
    whole = _("1 case: {counts}") if total == 1 else _("{n} cases: {counts}")
    unexpected = sum(not case.expected for case in report.cases)
    parts = [
        whole.format(n=total, counts=_(SEPARATOR).join(counts)),
        _("{count} unexpected").format(count=unexpected),
    ]
    divergences = sum(not alignment.expected for alignment in report.alignments)
    if divergences == 1:
        parts.append(_("1 pair of graphs part unexpectedly"))
    elif divergences:
        parts.append(_("{n} pairs of graphs part unexpectedly").format(n=divergences))
    findings = sum(finding.is_alarm for finding in report.findings)
    if findings == 1:
        parts.append(_("1 finding about the nets themselves"))
    elif findings:
        parts.append(_("{n} findings about the nets themselves").format(n=findings))
    if not has_compared(report):
        parts.append(_("no gradient was compared"))
    return _("; ").join(parts)


def oracle_summary(cases: Sequence[CaseReport]) -> str:
    """How the oracle stands to all cases, in a line."""
    words = Counter(map(wording.oracle_kind, cases))
    told = {
        "agrees": _("agrees on every element in {n}"),
        wording.KINKED: _("agrees but at kinks, which have no derivative, in {n}"),
        wording.FINITE: _("agrees where the net is finite in {n}"),
        "along directions": _("agrees along random directions in {n}"),
        "differs": _("differs in {n}"),
        wording.UNJUDGED: _(
            "cannot judge {n}, since the net is not finite there, or so great that its rounding"
            " hides the differences"
        ),
        wording.DRAWN: _("leaves out what is drawn, which is all, in {n}"),
        NOTHING: _("does not apply to {n}"),
    }
    parts = [text.format(n=words[kind]) for kind, text in told.items() if words[kind]]
    whole = _("oracle (central differences in float64): {parts}")
    line = whole.format(parts=_(SEPARATOR).join(parts))
    stops = _(STOPS) if any(case.oracle.stops for case in cases) else ""
    return _("; ").join(filter(None, (line, stops, wording.oracle_silence(cases))))


def described(difference: Difference) -> str:
    """A difference in a sentence: where it is, how great, and between whom."""
    engines = _(" and ").join(difference.engines)
    if difference.what != "value":
        leaf = difference.leaf
        text = _("Difference: {what} of {leaf} between {engines}: {detail}.") if leaf else ""
        text = text or _("Difference: {what} between {engines}: {detail}.")
        what = _(difference.what)
        return clean(text.format(what=what, leaf=leaf, engines=engines, detail=difference.detail))
    place = difference.leaf
    if difference.index:
        place += f"[{', '.join(map(str, difference.index))}]"
    if math.isinf(difference.abs):
        text = _("At {place} one is nan or inf and the other not the same, between {engines}.")
        return clean(text.format(place=place, engines=engines))
    text = _("Greatest difference at {place}: {size} ({relative} relative) between {engines}.")
    told = text.format(
        place=place,
        size=f"{difference.abs:.3g}",
        relative=f"{difference.rel:.2g}",
        engines=engines,
    )
    return clean(f"{told} {_noise(difference)}".strip())


def greatest(difference: Difference | None) -> str:
    """The greatest difference in a table's cell, with its ratio to the noise."""
    size = wording.size(difference)
    if (
        difference is None
        or not difference.noise
        or not math.isfinite(difference.ratio or math.inf)
    ):
        return size
    text = _("{size}, {ratio} × the noise")
    return text.format(size=size, ratio=multiple(difference.ratio or 0.0))


def _noise(difference: Difference) -> str:
    """The multiple of the noise that a difference is, where that was measured."""
    noise, ratio = difference.noise, difference.ratio
    if not noise or ratio is None or not math.isfinite(ratio):
        return ""
    text = _("That is {ratio} times the noise of {noise}.")
    return text.format(ratio=multiple(ratio), noise=f"{noise:.1g}")


def who(engines: Sequence[str], every_engine: Sequence[str]) -> str:
    """Some of ``every_engine``, in as few words as name them."""
    others = [name for name in every_engine if name not in engines]
    # Of two engines in all, "all" and "all but" tell less than their names.
    if len(engines) > 1 and len(others) < 2 and len(every_engine) > 2:
        return _("all but {engine}").format(engine=others[0]) if others else _("all engines")
    if len(engines) == 2:
        one, other = ENGINES[engines[0]], ENGINES[engines[1]]
        if one.style == other.style:
            return _("both tape engines") if one.style == "tape" else _("both graph engines")
        if one.framework == other.framework:
            return _("both {framework} engines").format(framework=one.framework)
    return _(SEPARATOR).join(engines)
