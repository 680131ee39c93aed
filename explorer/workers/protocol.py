"""The protocol between a worker and its parent: length-prefixed MessagePack, a call at a time."""

import struct
from typing import BinaryIO, Literal

import msgspec

from explorer.model.failures import Failure, Loss

HEADER = struct.Struct("<Q")
"""The length of the message that follows, in bytes."""


LIFELINE = "EXPLORER_LIFELINE"
"""The variable that names the descriptor of a pipe: a worker ends when its other end closes."""


class Call(msgspec.Struct, frozen=True):
    """One request: "module:function", and the MessagePack of its argument."""

    target: str
    argument: bytes


class Birth(msgspec.Struct, frozen=True):
    """What a worker that a nursery forks begins with, beside its open files."""

    environment: dict[str, str]
    folder: str


NEWS = struct.Struct("<cq")
"""A message of a nursery about a worker: BORN with its process id, or ENDED with its exit code."""

BORN, ENDED = b"b", b"e"


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reply, in one of four fields.

    ``value`` is the MessagePack of what the function returned, ``missing`` says what cannot be
    imported, ``refused`` is a UsageError, ``fault`` the traceback of an error of our own.
    """

    value: bytes = b""
    missing: str = ""
    refused: Failure | None = None
    fault: str = ""


class Lost(msgspec.Struct, frozen=True):
    """A request that got no reply: its worker crashed or ran out of time, or it was not sent at all."""

    outcome: Literal["crashed", "timed_out", "not_asked"]
    loss: Loss

    @property
    def is_fault(self) -> bool:
        """Whether the worker lives: the explorer's own code in it raised."""
        return self.loss.kind == "fault"

    @property
    def failure(self) -> Failure:
        """The loss as the error of a result."""
        return Failure(self.outcome, loss=self.loss)


def write(stream: BinaryIO, message: Call | Answer) -> None:
    """Send one message, and flush."""
    body = msgspec.msgpack.encode(message)
    # One after the other: both together would be one more copy of a large net's weights.
    stream.write(HEADER.pack(len(body)))
    stream.write(body)
    stream.flush()
