"""Files of recorded steps: a line that says what it is, then MessagePack; written whole, read with limits.

A file may come from anywhere: nothing in it is run, and what does not fit is refused in one line.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from explorer.model import trace, training
from explorer.model.errors import UsageError
from explorer.model.trace import Trace
from explorer.model.training import Training, TrainingStep
from explorer.recording.checks import faults
from explorer.text.language import _, later
from explorer.text.reasons import reason
from explorer.whole_files import put_whole

Record = TypeVar("Record", Trace, Training)


class Form(msgspec.Struct, Generic[Record], frozen=True):
    """A kind of file: how it begins, how its name ends, what it holds, and what it is called."""

    magic: bytes
    ending: str
    holds: type[Record]
    schema: int
    name: str
    hint: str


TRACE = Form(
    b"explorer-trace",
    ".trace",
    Trace,
    trace.SCHEMA,
    later("trace"),
    later("it is not a trace; explorer.record() writes traces"),
)
TRAINING = Form(
    b"explorer-training",
    ".training",
    Training,
    training.SCHEMA,
    later("training record"),
    later(
        "it is not a training record; explorer.recorder(training=True) and `explorer train` write them"
    ),
)
FORMS: dict[bytes, Form[Any]] = {form.magic: form for form in (TRACE, TRAINING)}
"""The kinds of files by how they begin."""

MOST_BYTES = 1 << 30
"""A larger file is not read."""

CHANGED = later("it is not what was written: its digest differs; copy it again")
"""That a content is another one than what was written."""

COUNT = re.compile(rb"\d{1,18}")
"""A number of bytes."""

LONGEST_LINE = 200
"""So many bytes have what a file is in them."""


class TraceError(UsageError):
    """A file that is not what it should be, or one that is broken, too large, or of a later version."""


# Writing


def write_trace(path: Path, trace: Trace) -> None:
    """Write a trace to ``path``, which never holds half of it; OSError."""
    put_whole(path, encoded(trace))


def write_training(path: Path, training: Training) -> None:
    """Write a training to ``path``, which never holds half of it; OSError."""
    put_whole(path, encoded(training))


def append_step(path: Path, step: bytes) -> None:
    """Add an encoded step to the file of a training, for a program that may be killed; OSError."""
    frame = b"%s %d\n%s" % (_digest(step), len(step), step)
    with open(path, "r+b", buffering=0) as file:
        file.seek(0, os.SEEK_END)
        file.write(frame)


def encoded(recorded: Trace | Training) -> bytes:
    """The content of a file; that of a training says how long it is, since steps may come behind it."""
    form: Form[Any] = TRACE if isinstance(recorded, Trace) else TRAINING
    body = msgspec.msgpack.encode(recorded)
    parts = [form.magic, b"%d" % form.schema, _digest(body)]
    if form is TRAINING:
        parts.append(b"%d" % len(body))
    return b" ".join(parts) + b"\n" + body


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


# Reading


def is_trace(path: Path) -> bool:
    """Whether a file begins as a trace does, or is at least called one."""
    return form_of(path) is TRACE


def is_training(path: Path) -> bool:
    """Whether a file begins as a training does, or is at least called one."""
    return form_of(path) is TRAINING


def form_of(path: Path) -> Form[Any] | None:
    """The kind of a file, by how it begins or else by its name; None for any other file."""
    magic = b""
    # Of a pipe or a device nobody knows when, or whether, it ends.
    if path.is_file():
        with suppress(OSError), open(path, "rb") as file:
            magic, _space, _rest = file.read(LONGEST_LINE).partition(b" ")
    by_name = next((form for form in FORMS.values() if path.suffix == form.ending), None)
    return FORMS.get(magic, by_name)


def read_trace(path: Path) -> Trace:
    """The trace in a file; TraceError says what is wrong with it."""
    return read(path, TRACE)


def read_training(path: Path) -> Training:
    """The training in a file; TraceError says what is wrong with it."""
    return read(path, TRAINING)


def read(path: Path, form: Form[Record]) -> Record:
    """What a file of some kind holds; TraceError says what is wrong with it."""
    name = repr(str(path))
    try:
        size = path.stat().st_size
        if not (path.is_file() or path.is_dir()):
            raise TraceError(
                _("{file} is a pipe or a device; copy what it holds into a file"), file=name
            )
        if size > MOST_BYTES:
            text = _("{file} has {size} MB; files of up to {most} MB are read")
            raise TraceError(text, file=name, size=size >> 20, most=MOST_BYTES >> 20)
        content = path.read_bytes()
    except OSError as error:
        raise TraceError(
            _("{file} cannot be read: {reason}"), file=name, reason=reason(error)
        ) from error
    try:
        return decoded(content, form)
    except TraceError as error:
        raise TraceError(_("{file}: {reason}"), file=name, reason=error) from None


def decoded(content: bytes, form: Form[Record]) -> Record:
    """What a file of some kind with that content holds; TraceError says what is wrong with it."""
    head, newline, body = content.partition(b"\n")
    parts = head.split(b" ")
    has_length = form is TRAINING and len(parts) == 4 and COUNT.fullmatch(parts[3])
    if parts[0] != form.magic or not (len(parts) == 3 or has_length) or not newline:
        raise TraceError(_(form.hint))
    length = int(parts[3]) if has_length else len(body)
    behind: bytes = body[length:]
    body = body[:length]
    if parts[1] != b"%d" % form.schema:
        version = parts[1][:20].decode("ascii", "replace")
        text = _(
            "it is a {form} of version {version}, and this explorer reads version {known};"
            " install the explorer that it was recorded with"
        )
        raise TraceError(text, form=_(form.name), version=version, known=form.schema)
    if parts[2] != _digest(body):
        raise TraceError(_(CHANGED))
    try:
        recorded: Any = msgspec.msgpack.decode(body, type=form.holds)
    # The last is that of a text with a lone surrogate, and of what is nested too deeply.
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise _broken(form, str(error)) from None
    if recorded.schema != form.schema:
        raise _broken(form, f"schema {recorded.schema}")
    if behind:
        steps = (*recorded.steps, *_steps(behind))
        recorded = msgspec.structs.replace(recorded, steps=steps)
    fault = next(faults(recorded), None)
    if fault is not None:
        raise _broken(form, fault)
    whole: Record = recorded
    return whole


def _steps(content: bytes) -> Iterator[TrainingStep]:
    """The steps that were added to a file; one that is not there as a whole was being written."""
    while content:
        head, newline, rest = content.partition(b"\n")
        digest, _space, length = head.partition(b" ")
        if not newline or not COUNT.fullmatch(length) or int(length) > len(rest):
            return
        step, content = rest[: int(length)], rest[int(length) :]
        if _digest(step) != digest:
            raise TraceError(_(CHANGED))
        try:
            yield msgspec.msgpack.decode(step, type=TrainingStep)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise _broken(TRAINING, str(error)) from None


def _broken(form: Form[Any], what: str) -> TraceError:
    text = _("it is a broken {form}: {what}; record it again")
    return TraceError(text, form=_(form.name), what=" ".join(what.split())[:200])
