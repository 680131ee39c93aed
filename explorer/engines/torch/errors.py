"""Failures as records: PyTorch's exceptions, cut down to what they say of the user's net."""

import re
import traceback
from pathlib import Path
from typing import Literal

from torch._dynamo import exc
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException

from explorer.model.results import Failure

LONGEST = 600
UNSUPPORTED = (
    exc.Unsupported,
    exc.UserError,
    exc.UncapturedHigherOrderOpError,
    exc.InternalTorchDynamoError,
    exc.TorchRuntimeError,
    DataDependentOutputException,
    DynamicOutputShapeException,
    NotImplementedError,
)
"""What the graph side of torch 2.13 raises when it cannot turn a net into one graph."""

NOISE = re.compile(
    r"\n\s*(Exception raised from|C\+\+ [Cc]apture|Hint:|Developer debug context|For more details about|from user code:"
    r"|Set TORCHDYNAMO_VERBOSE|Use tlparse|While executing|Original traceback|Traceback \(most recent)"
)
FOLDERS = re.compile(r"(?<![\w./])/(?:[^\s/:'\"]+/)+")


def failure(error: BaseException, scenario: str) -> Failure:
    """The record of an exception: its type, its message without stacks and machine paths, and the
    scenario's line it names.
    """
    text = str(error)
    message = FOLDERS.sub("", NOISE.split(text, maxsplit=1)[0]).strip()
    return Failure(
        type(error).__name__, message[:LONGEST], _line(error, text, Path(scenario).resolve())
    )


def outcome(error: BaseException) -> Literal["raised", "unsupported"]:
    """Whether an exception is the net's own, or says that the graph side has no way to hold this
    net.
    """
    return "unsupported" if isinstance(error, UNSUPPORTED) else "raised"


def _line(error: BaseException, text: str, path: Path) -> str:
    """ "file:line" of the innermost place in the scenario that the traceback or the message names."""
    frames = [
        str(frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    named = re.findall(re.escape(str(path)) + r"(?::|\", line )(\d+)", text)
    lines = frames or named
    return f"{path.name}:{lines[-1]}" if lines else ""
