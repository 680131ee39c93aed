"""Short readings of calls, values, errors and differences, the same in every format."""

from collections.abc import Collection

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.results import Failure, Leaf, OracleResult, Result
from explorer.model.trees import Nested
from explorer.text.clean import clean
from explorer.text.messages import one_line
from explorer.text.numbers import FEW, digits

MANY = 9  # tell any two float32 apart
"""Significant digits of a value that reads like another's though it differs."""

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

ABOUT_DRAWS = (
    "drawn: what depends on random numbers, of which each engine draws its own; structure, shapes"
    " and dtypes are compared and its values are not, nor does the oracle judge them."
    " Dropout layers (nn.Dropout) drop the same elements in both nets unless SAME_DROPOUT = False"
)
"""What a report says of random numbers, once."""

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
