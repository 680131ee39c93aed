"""The protocol between a worker and its parent: length-prefixed MessagePack, a call at a time."""

import struct
from typing import BinaryIO, Literal

import msgspec

from explorer.model.results import Failure, Loss, LossKind
from explorer.text.language import ENGLISH, _, later, said_in

HEADER = struct.Struct("<Q")
"""The length of the message that follows, in bytes."""


LIFELINE = "EXPLORER_LIFELINE"
"""The variable that names the descriptor of a pipe: a worker ends when its other end closes."""

MEMORY_LIMIT = "EXPLORER_WORKER_MB"
"""The variable with the number of megabytes that each worker may use."""


class Call(msgspec.Struct, frozen=True):
    """One request: "module:function", and the MessagePack of its argument."""

    target: str
    argument: bytes


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reply, in one of four fields.

    ``value`` is the MessagePack of what the function returned, ``missing`` says what cannot be
    imported, ``refused`` is the message of a UsageError, ``fault`` the traceback of an error of our own.
    """

    value: bytes = b""
    missing: str = ""
    refused: str = ""
    fault: str = ""


class Lost(msgspec.Struct, frozen=True):
    """A request that got no reply: its worker crashed or ran out of time, or it was not sent at all.

    ``cause`` says how the worker was lost, or is an error of the explorer itself. If the loss
    ``is_fault``, the worker lives: the explorer's own code in it raised.
    """

    outcome: Literal["crashed", "timed_out", "not_asked"]
    cause: Loss | str
    is_fault: bool = False

    @property
    def detail(self) -> str:
        """The cause in English, as it is recorded."""
        if isinstance(self.cause, str):
            return self.cause
        with said_in(ENGLISH):
            return loss_text(self.cause)

    @property
    def failure(self) -> Failure:
        """The loss as the error of a result."""
        loss = None if isinstance(self.cause, str) else self.cause
        return Failure(self.outcome, self.detail, loss=loss)


def write(stream: BinaryIO, message: Call | Answer) -> None:
    """Send one message, and flush."""
    body = msgspec.msgpack.encode(message)
    stream.write(HEADER.pack(len(body)) + body)
    stream.flush()


# Lost requests as text

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


def loss_text(loss: Loss) -> str:
    """A loss in the reader's language, with the last of what the worker wrote to stderr."""
    amount = f"{loss.amount:.0f}" if loss.kind == "memory" else f"{loss.amount:g}"
    said = _(TEXTS[loss.kind]).format(how=_how(loss.code), amount=amount, variable=MEMORY_LIMIT)
    if not loss.output:
        return said
    return _("{loss}; its error output ends with:\n{output}").format(loss=said, output=loss.output)


def message(error: Failure) -> str:
    """The message of an error; of a lost worker, in the reader's language."""
    return loss_text(error.loss) if error.loss else error.message


def _how(code: int | None) -> str:
    """How a process ended, from its exit code: negative if a signal ended it."""
    if code is None:
        return _("reason unknown")
    if code < 0:
        return _("signal {n}").format(n=-code)
    return _("exit code {n}").format(n=code)
