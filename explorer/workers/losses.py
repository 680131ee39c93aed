"""How requests to workers were lost, as text."""

from explorer.model.results import Failure, Loss, LossKind
from explorer.text.language import _, later
from explorer.workers.memory import LIMIT

TEXTS: dict[LossKind, str] = {
    "died": later("the worker process died ({how})"),
    "closed": later("the worker closed its pipe but did not exit"),
    "unreadable": later("the worker's answer cannot be read"),
    "memory": later(
        "the worker exceeded its memory limit of {amount} MB; set {variable} to allow more"
    ),
    "no_answer": later("no answer within {amount} s; raise --request-timeout to wait longer"),
    "out_of_time": later(
        "no answer before the time limit of the whole run was reached; raise --timeout to wait"
        " longer"
    ),
    "not_sent": later(
        "the time limit of the whole run was reached; raise --timeout to wait longer"
    ),
}
"""What is said of each kind of loss."""


def text(loss: Loss) -> str:
    """A loss in the reader's language, with the last of what the worker wrote to stderr."""
    amount = f"{loss.amount:.0f}" if loss.kind == "memory" else f"{loss.amount:g}"
    said = _(TEXTS[loss.kind]).format(how=_how(loss.code), amount=amount, variable=LIMIT)
    if not loss.output:
        return said
    return _("{loss}; its error output ends with:\n{output}").format(loss=said, output=loss.output)


def message(error: Failure) -> str:
    """The message of an error; of a lost worker, in the reader's language."""
    return text(error.loss) if error.loss else error.message


def _how(code: int | None) -> str:
    """How a process ended, from its exit code: negative if a signal ended it."""
    if code is None:
        return _("reason unknown")
    if code < 0:
        return _("signal {n}").format(n=-code)
    return _("exit code {n}").format(n=code)
