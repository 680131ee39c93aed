"""Short readings of calls, values, errors and differences, the same in every face."""

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.report import CaseReport, Difference
from explorer.model.results import Failure, Leaf, OracleResult, Result
from explorer.model.trees import Nested
from explorer.text.clean import clean
from explorer.text.messages import one_line
from explorer.text.numbers import digits

FEW, MANY = 5, 9
"""Significant digits of a value, and of one that reads like another's though it differs; 9 tell any
two float32 apart.
"""

HEADINGS = {
    "grad": "grad(net, grad_position, weights, has_aux)",
    "value_and_grad": "value_and_grad(net, grad_position, weights, has_aux)",
    "GradOperation": "GradOperation(get_all, get_by_list, sens_param)(net, weights)",
    "nested": "grad of grad",
}

OUTCOMES = {
    "raised": "raises",
    "unsupported": "cannot do this",
    "crashed": "crashed",
    "timed_out": "ran out of time",
    "not_defined": "is not defined",
}


def group(case: GradCase) -> str:
    """The key of HEADINGS under which a case is listed."""
    return "nested" if case.order > 1 else case.api


def arguments(case: GradCase) -> str:
    """The call under its heading: ``0, weights=all, has_aux``; defaults are left out."""
    if case.api == "GradOperation":
        return (
            ", ".join(
                name for name in ("get_all", "get_by_list", "sens_param") if getattr(case, name)
            )
            or "no flags"
        )
    if case.order > 1:
        return case.label
    parts = [
        str(case.grad_position),
        f"weights={case.weights}" if case.weights else "",
        "has_aux" if case.has_aux else "",
    ]
    return ", ".join(filter(None, parts))


def short(case: GradCase) -> str:
    """A case in fewer words than its label: ``grad(0, weights=all, has_aux)``; unique among the
    cases of a net.
    """
    return (
        arguments(case)
        if case.order > 1
        else f"{case.api}({arguments(case).replace('no flags', '')})"
    )


def value(result: Result, precision: int = FEW) -> str:
    """The numbers of an answer as Python nests them: ``([[4, 6, 8]], (19,))``."""
    return _value(result.nested, precision)


def _value(nested: "Nested[Leaf]", precision: int) -> str:
    if isinstance(nested, Leaf):
        return digits(unpack(nested.value), precision=precision)
    return (
        "("
        + ", ".join(_value(item, precision) for item in nested)
        + ("," if len(nested) == 1 else "")
        + ")"
    )


def failure(error: Failure | None) -> str:
    """An error as Python would end its traceback, on one line."""
    if error is None:
        return "no reason given"
    return one_line(f"{error.type}: {error.message}")


def answer(result: Result, precision: int = FEW) -> str:
    """What an engine said: its value, or its error; what it answers when it cannot says so first."""
    if result.outcome == "ok":
        return value(result, precision)
    said = failure(result.error)
    return said if result.outcome == "raised" else f"{OUTCOMES[result.outcome]}: {said}"


def who(engines: tuple[str, ...], asked: tuple[str, ...]) -> str:
    """Some of the engines ``asked``, in as few words as name them: "both graph engines", "all but
    torch-tape", or their names.
    """
    others = [name for name in asked if name not in engines]
    if len(engines) > 1 and len(others) < 2 and len(asked) > 2:
        return f"all but {others[0]}" if others else "all engines"
    for kind in ("style", "framework"):
        shared = {getattr(ENGINES[name], kind) if name in ENGINES else name for name in engines}
        if len(engines) == 2 and len(shared) == 1:
            return f"both {shared.pop()} engines"
    return ", ".join(engines)


def oracle(report: CaseReport) -> str:
    """How the oracle stands to the engines: on every element, along so many directions, or not at
    all.
    """
    if report.oracle_agrees is None:
        return "—"
    if not report.oracle_agrees:
        return "differs"
    count = max((estimate.directions for estimate in report.oracle.estimates), default=0)
    return f"agrees ·{count}" if count else "agrees"


def estimates(result: OracleResult) -> str:
    """The oracle's own numbers, leaf by leaf."""
    parts = []
    for estimate in result.estimates:
        along = f" along {estimate.directions} directions" if estimate.directions else ""
        parts.append(f"{clean(estimate.name)}{along} {digits(unpack(estimate.value))}")
    return ", ".join(parts)


def size(difference: Difference | None) -> str:
    """The greatest difference in a table's cell: its figure, or the name of what differs first."""
    if difference is None or (difference.what == "value" and not difference.abs):
        return "0"
    return f"{difference.abs:.2g}" if difference.what == "value" else difference.what


PAIRED = "op nodes that hold the same quantity, or are a step inside one op of the other graph"
"""What the counts of an alignment count."""


def spelled(difference: Difference) -> str:
    """A difference in a sentence: where it is, how great, and between whom."""
    pair = " and ".join(difference.engines)
    if difference.what != "value":
        leaf = f" of {difference.leaf}" if difference.leaf else ""
        return clean(f"{difference.what}{leaf} differs between {pair}: {difference.detail}")
    place = (
        f"{difference.leaf}[{', '.join(map(str, difference.index))}]"
        if difference.index
        else difference.leaf
    )
    return clean(
        f"greatest at {place}: {difference.abs:.3g} ({difference.rel:.2g} relative) between {pair}"
    )
