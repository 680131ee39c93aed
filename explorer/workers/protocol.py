"""The protocol between a worker and its parent: length-prefixed MessagePack, a call at a time."""

import struct
from typing import BinaryIO, Literal

import msgspec

from explorer.model.results import Failure, Loss
from explorer.text.language import ENGLISH, said_in
from explorer.workers.losses import text

HEADER = struct.Struct("<Q")
"""The length of the message that follows, in bytes."""


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
    """A request that got no reply: its worker crashed or ran out of time, or was not asked at all.

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
            return text(self.cause)

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
