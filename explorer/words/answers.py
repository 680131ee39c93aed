"""Short readings of calls, values, errors and differences, the same in every format."""

from collections.abc import Collection

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.failures import Failure
from explorer.model.report import LeftOut
from explorer.model.results import Estimate, Leaf, NoteKind, OracleResult, Result
from explorer.model.trees import Nested
from explorer.text.clean import clean
from explorer.text.failures import message, typed
from explorer.text.language import _, later
from explorer.text.messages import one_line
from explorer.text.numbers import FEW, digits, tensor_digits
from explorer.words.cases import SEPARATOR, counted

MANY = 9  # tell any two float32 apart
"""Significant digits of a value that reads like another's though it differs."""

HEADINGS = {
    "grad": "grad(net, grad_position, weights, has_aux)",
    "value_and_grad": "value_and_grad(net, grad_position, weights, has_aux)",
    "GradOperation": "GradOperation(get_all, get_by_list, sens_param)(net, weights)",
    "nested": later("grad of grad"),
}
"""The headings under which cases are listed: an API each, and nested calls."""

NAMES = later(
    "dNAME: gradient with respect to NAME; weights=one: to the first weight alone;"
    " sens_param: from cotangents other than 1"
)
"""What names in the table of cases mean."""

OUTCOMES = {
    "raised": later("raises"),
    "unsupported": later("cannot do this"),
    "crashed": later("crashed"),
    "timed_out": later("ran out of time"),
    "not_asked": later("was not run"),
    "not_defined": later("is not defined"),
}
"""The words for each outcome without a value."""

OMITTED = {
    "selected": later("{n} of {total} cases were not selected: {reason}"),
    "timed_out": later("{n} of {total} cases were not reached: {reason}"),
    "interrupted": later("{n} of {total} cases were not reached: {reason}"),
}
"""The words for cases that are left out, by the cause of that."""

SELECTED = {
    "main": later("only the main case was requested"),
    "structure": later("the others cover each API, grad_position, form of weights and has_aux"),
    "size": later(
        "{total} cases on a graph of {op_nodes} op nodes take long; the others cover each API,"
        " grad_position, form of weights and has_aux; --cases all runs every case"
    ),
}
"""The reasons why cases are not selected, by the selection."""

ENDED = {
    "timed_out": later("the time limit of the whole run was reached; raise --timeout to run them"),
    "interrupted": later("the run was interrupted"),
}
"""The reasons why cases are not reached."""

NOTES: dict[NoteKind, str] = {
    "joint_has_none": later(
        "the outputs do not depend on {detail}, for which the joint graph has no gradient; shown as"
        " zeros"
    ),
    "grad_is_none": later(
        "the outputs do not depend on {detail}, for which PyTorch leaves .grad as None; shown as zeros"
    ),
    "reentrant": later(
        "computed by .backward(), since torch.utils.checkpoint with use_reentrant=True refuses"
        " torch.autograd.grad"
    ),
    "ids_of_many": later(
        "return_ids=True is left out for a net of {detail} parameters: it would compile the net a"
        " second time"
    ),
    "ids_take_long": later(
        "return_ids=True is left out for a net that takes long to compile: it would compile the net a"
        " second time"
    ),
    "ids_raise": later("return_ids=True raises {detail}"),
}
"""The notes on answers."""

ENGINE_COLUMNS = (later("engine"), later("how"), later("version"), later("device"))
"""The columns of the table of engines."""

ALIGNMENT_COLUMNS = (
    later("pair"),
    later("forward"),
    later("backward"),
    later("first divergence"),
)
"""The columns of the table of pairs of graphs."""

DRAWN = later("drawn")
"""What stands in the place of values that depend on random numbers."""

ABOUT_DRAWS = later(
    "drawn: what depends on random numbers. Each engine draws its own; structure, shapes and dtypes are"
    " compared, values are not, and the oracle does not judge them. Dropout layers and functions drop the"
    " same elements in both nets unless SAME_DROPOUT = False"
)
"""What a report says of random numbers, once."""


def heading(case: GradCase) -> str:
    """The key of HEADINGS under which a case is listed."""
    return "nested" if case.order > 1 else case.api


def call(case: GradCase) -> str:
    """The call under its heading: ``0, weights=all, has_aux``; defaults are left out."""
    if case.order > 1:
        return case.label
    return case.arguments or _("no arguments")


def value(result: Result, precision: int = FEW, drawn: Collection[str] = ()) -> str:
    """The numbers of an answer as Python nests them: ``([[4, 6, 8]], (19,))``.

    In the place of leaves in ``drawn`` stands that they are.
    """
    return _nested(result.nested, precision, drawn)


def _nested(part: "Nested[Leaf]", precision: int, drawn: Collection[str]) -> str:
    if isinstance(part, Leaf):
        if part.name in drawn:
            return _(DRAWN)
        return tensor_digits(part.value, precision=precision)
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
        return _("no reason given")
    return one_line(typed(error))


def note(result: Result) -> str:
    """The note on an answer; "" where there is none."""
    if result.note is None:
        return ""
    raised = result.note.error
    detail = typed(raised) if raised else result.note.detail
    return _(NOTES[result.note.kind]).format(detail=detail)


def why_left_out(left_out: LeftOut) -> str:
    """Why cases were not run."""
    if left_out.cause != "selected":
        return _(ENDED[left_out.cause])
    if not left_out.selection:
        return ""
    text = _(SELECTED[left_out.selection])
    return text.format(total=left_out.total, op_nodes=left_out.op_nodes)


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
        error = one_line(message(result.error))  # a lost worker has no exception to name
    return _("{outcome}: {error}").format(outcome=_(OUTCOMES[result.outcome]), error=error)


def estimates(result: OracleResult) -> str:
    """The oracle's own numbers, leaf by leaf."""
    parts = []
    for estimate in result.estimates:
        numbers = digits(unpack(estimate.value))
        parts.append(f"{clean(estimate.name)}{_along(estimate)} {numbers}{_kinks(estimate)}")
    return _(SEPARATOR).join(parts)


def _along(estimate: Estimate) -> str:
    """How many leaves an estimate varies together, and along how many directions."""
    parts = []
    if estimate.together:
        parts.append(_(", {n} leaves together").format(n=len(estimate.together)))
    if estimate.directions:
        one, several = _(" along 1 direction"), _(" along {n} directions")
        parts.append(counted(estimate.directions, one, several))
    return "".join(parts)


def _kinks(estimate: Estimate) -> str:
    if not estimate.at_kinks:
        return ""
    return _(" ({n} of them at a kink)").format(n=estimate.at_kinks)
