"""Short readings of calls, values, errors and differences, the same in every format."""

import math
from collections.abc import Collection, Sequence

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.report import CaseReport, CaseVerdict, Difference
from explorer.model.results import Estimate, Failure, Leaf, OracleResult, Result
from explorer.model.trees import Nested
from explorer.report.wording import NOTHING
from explorer.text.clean import clean
from explorer.text.messages import one_line
from explorer.text.numbers import FEW, against_noise, digits

MANY = 9  # tell any two float32 apart
"""Significant digits of a value that reads like another's though it differs."""

VERDICTS: dict[CaseVerdict, str] = {
    "match": "match",
    "close": "close",
    "differs": "differs",
    "drawn": "drawn",
    "all_raise": "all raise",
    "some_raise": "some raise",
    "not_compared": "alone",
}
"""The name of each verdict in a report."""

HEADINGS = {
    "grad": "grad(net, grad_position, weights, has_aux)",
    "value_and_grad": "value_and_grad(net, grad_position, weights, has_aux)",
    "GradOperation": "GradOperation(get_all, get_by_list, sens_param)(net, weights)",
    "nested": "grad of grad",
}
"""The headings under which cases are listed: an API each, and nested calls."""

OUTCOMES = {
    "raised": "raises",
    "unsupported": "cannot do this",
    "crashed": "crashed",
    "timed_out": "ran out of time",
    "not_asked": "was not asked",
    "not_defined": "is not defined",
}
"""The words for each outcome without a value."""

OMITTED = {
    "selected": "not asked",
    "timed_out": "not reached",
    "interrupted": "not reached",
}
"""The words for cases that are left out, by the cause of that."""

ENGINE_COLUMNS = ("engine", "how", "version", "device")
"""The columns of the table of engines."""

ALIGNMENT_COLUMNS = ("pair", "forward", "backward", "first divergence")
"""The columns of the table of pairs of graphs."""

DRAWN = "drawn"
"""What stands in the place of values that depend on random numbers."""

KINKED = ", not at kinks"
"""What follows the oracle's agreement where some of what it estimated has no derivative."""

FINITE = ", where finite"
"""What follows the oracle's agreement where the net is not finite at some of what it varied."""

UNJUDGED = "cannot judge"
"""The oracle's word where the net is not finite, or too great, at anything that it varied."""

WHY_UNJUDGED = "the net is not finite there, or so great that its rounding hides the differences"
"""Why the oracle cannot judge."""

ORACLE_KINDS = ("agrees", KINKED, FINITE, "along directions", "differs", UNJUDGED, DRAWN, NOTHING)
"""How the oracle can stand to a case; a gradient estimated along directions is "agrees ·16" in a cell."""

STOPS = "what the PyTorch net cuts off from its tape (detach, no_grad) it takes for constant"
"""What the oracle says of a net that stops gradients."""

ABOUT_DRAWS = (
    "drawn: what depends on random numbers, of which each engine draws its own; structure, shapes"
    " and dtypes are compared and its values are not, nor does the oracle judge them."
    " Dropout layers (nn.Dropout) drop the same elements in both nets unless SAME_DROPOUT = False"
)
"""What a report says of random numbers, once."""

NOT_FINITE = "nan or inf"
"""What stands for the size of a difference to what is not a number."""

NO_DIVERGENCE = "none"
"""The word for two graphs between which nothing parts."""


def heading(case: GradCase) -> str:
    """The key of HEADINGS under which a case is listed."""
    return "nested" if case.order > 1 else case.api


def call(case: GradCase) -> str:
    """The call under its heading: ``0, weights=all, has_aux``; defaults are left out."""
    if case.order > 1:
        return case.label
    return case.arguments or "no flags"


def value(result: Result, precision: int = FEW, drawn: Collection[str] = ()) -> str:
    """The numbers of an answer as Python nests them: ``([[4, 6, 8]], (19,))``.

    In the place of leaves in ``drawn`` stands that they are.
    """
    return _nested(result.nested, precision, drawn)


def _nested(part: "Nested[Leaf]", precision: int, drawn: Collection[str]) -> str:
    if isinstance(part, Leaf):
        if part.name in drawn:
            return DRAWN
        return digits(unpack(part.value), precision=precision)
    if part is None:
        return "None"
    if isinstance(part, dict):
        pairs = [f"{key!r}: {_nested(item, precision, drawn)}" for key, item in part.items()]
        return "{" + ", ".join(pairs) + "}"
    items = ", ".join(_nested(item, precision, drawn) for item in part)
    if isinstance(part, list):
        return f"[{items}]"
    return f"({items},)" if len(part) == 1 else f"({items})"


def failure(error: Failure | None) -> str:
    """An error as Python would end its traceback, on one line."""
    if error is None:
        return "no reason given"
    return one_line(error.text)


def answer(result: Result, precision: int = FEW, drawn: Collection[str] = ()) -> str:
    """An engine's answer: its value, or its error.

    Where it is not the framework that raised, what happened comes first.
    """
    if result.outcome == "ok":
        return value(result, precision, drawn)
    error = failure(result.error)
    if result.outcome == "raised":
        return error
    if result.error and result.error.type == result.outcome:
        error = one_line(result.error.message)  # a lost worker has no exception to name
    return f"{OUTCOMES[result.outcome]}: {error}"


def who(engines: tuple[str, ...], every_engine: tuple[str, ...]) -> str:
    """Some of ``every_engine``, in as few words as name them.

    "all engines", "all but torch-tape", "both graph engines", or their names.
    """
    others = [name for name in every_engine if name not in engines]
    # Of two engines in all, "all" and "all but" tell less than their names.
    if len(engines) > 1 and len(others) < 2 and len(every_engine) > 2:
        return f"all but {others[0]}" if others else "all engines"
    if len(engines) == 2:
        one, other = ENGINES[engines[0]], ENGINES[engines[1]]
        if one.style == other.style:
            return f"both {one.style} engines"
        if one.framework == other.framework:
            return f"both {one.framework} engines"
    return ", ".join(engines)


def oracle(report: CaseReport) -> str:
    """The agreement of the oracle: on every element, along so many directions, or none.

    Nor has it anything to say where all that it estimated depends on random numbers, lies at kinks,
    or is not finite.
    """
    drawn = set(report.drawn)
    judged = [estimate for estimate in report.oracle.estimates if not drawn & set(estimate.leaves)]
    if report.oracle_agrees is None:
        return _silence(report, judged)
    return _agreement(judged) if report.oracle_agrees else "differs"


def _silence(report: CaseReport, judged: Sequence[Estimate]) -> str:
    """The word for an oracle that says nothing of a case."""
    has_answer = any(result.outcome == "ok" for result in report.results.values())
    has_slopes = any(estimate.at_kinks < estimate.size for estimate in judged)
    if has_answer and has_slopes:
        return UNJUDGED
    return DRAWN if report.drawn and report.oracle.estimates else NOTHING


def _agreement(judged: Sequence[Estimate]) -> str:
    """The word for an oracle that agrees, and what it leaves out."""
    directions = max((estimate.directions for estimate in judged), default=0)
    agrees = f"agrees ·{directions}" if directions else "agrees"
    if any(estimate.not_finite for estimate in judged):
        return f"{agrees}{FINITE}"
    if any(estimate.at_kinks for estimate in judged):
        return f"{agrees}{KINKED}"
    return agrees


def oracle_kind(report: CaseReport) -> str:
    """The one of ORACLE_KINDS that a case belongs to."""
    word = oracle(report)
    for ending in (KINKED, FINITE):
        if word.endswith(ending):
            return ending
    return word if word in ORACLE_KINDS else "along directions"


def oracle_silence(reports: Sequence[CaseReport]) -> str:
    """Why the oracle says nothing of any case, where the net is the reason; else empty."""
    if any(report.oracle.estimates for report in reports):
        return ""
    errors = [report.oracle.error for report in reports if report.oracle.error]
    return next((error.message for error in errors if error.type == "UsageError"), "")


def estimates(result: OracleResult) -> str:
    """The oracle's own numbers, leaf by leaf."""
    parts = []
    for estimate in result.estimates:
        along = f" along {estimate.directions} directions" if estimate.directions else ""
        if estimate.together:
            along = f", {len(estimate.together)} leaves together{along}"
        kinks = f" ({estimate.at_kinks} of them at a kink)" if estimate.at_kinks else ""
        parts.append(f"{clean(estimate.name)}{along} {digits(unpack(estimate.value))}{kinks}")
    return ", ".join(parts)


def size(difference: Difference | None) -> str:
    """The greatest difference in a table's cell: its figure, or the name of what differs first."""
    # No difference, and one of nothing, read alike.
    if difference is None or (difference.what == "value" and not difference.abs):
        return "0"
    if difference.what == "value" and math.isinf(difference.abs):
        return NOT_FINITE
    return f"{difference.abs:.2g}" if difference.what == "value" else difference.what


def greatest(difference: Difference | None) -> str:
    """The same with its ratio to the noise: "0.008, 240 × the noise"."""
    if difference is None or not difference.ratio or math.isinf(difference.abs):
        return size(difference)
    return against_noise(size(difference), difference.noise, difference.ratio, level=False)


def place(leaf: str, index: tuple[int, ...]) -> str:
    """An element as Python names it: "dx[2, 3]"; a tensor without axes by its name alone."""
    return f"{leaf}[{', '.join(map(str, index))}]" if index else leaf


def described(difference: Difference) -> str:
    """A difference in a sentence: where it is, how great, and between whom."""
    engines = " and ".join(difference.engines)
    if difference.what != "value":
        leaf = f" of {difference.leaf}" if difference.leaf else ""
        return clean(f"{difference.what}{leaf} differs between {engines}: {difference.detail}")
    where = place(difference.leaf, difference.index)
    if math.isinf(difference.abs):
        return clean(
            f"at {where} one is {NOT_FINITE} and the other not the same, between {engines}"
        )
    relative = f"{difference.rel:.2g} relative"
    in_brackets = against_noise(relative, difference.noise, difference.ratio)
    return clean(f"greatest at {where}: {difference.abs:.3g} ({in_brackets}) between {engines}")
