"""Failures of PyTorch: where its messages end, and which of them mean that a net has no graph."""

import re
from typing import Literal

from explorer.engines import failures
from explorer.model.failures import Failure
from explorer.model.requests import CaseRequest
from explorer.model.results import Result

ENDS = re.compile(
    r"\n\s*("
    r"Exception raised from|C\+\+ [Cc]apture|Hint:|Developer debug context|For more details about"
    r"|from user code:|Set TORCHDYNAMO_VERBOSE|Use tlparse|While executing|Original traceback"
    r"|Traceback \(most recent"
    r")"
)
"""The end of the message proper (torch 2.13): stacks and advice to developers follow."""


def failure(error: BaseException, scenario: str) -> Failure:
    """The record of an exception, without stacks and machine paths.

    It has the type, the message, and the scenario's line that the exception names.
    """
    # An operator raises below the user's frame. Dynamo reads a net without running it, and names
    # the line in its message (torch 2.13).
    return failures.failure(error, scenario, _statement, prefer="traceback")


def failed(request: CaseRequest, error: Exception, code: str = "") -> Result:
    """The result of a case whose computation raised."""
    reason = failure(error, request.net.scenario)
    return Result(outcome=outcome(error), error=reason, code=code)


def _statement(text: str) -> failures.Statement:
    return failures.Statement(ENDS.split(text, maxsplit=1)[0])


def outcome(error: BaseException) -> Literal["raised", "unsupported"]:
    """The outcome that an exception means.

    It is "raised" when the exception is the net's own, and "unsupported" when the graph side has no
    way to hold this net.
    """
    return "unsupported" if isinstance(error, _unsupported()) else "raised"


def _unsupported() -> tuple[type[BaseException], ...]:
    """The errors of the graph side of torch 2.13 when it cannot turn a net into one graph."""
    # Imported here because Dynamo takes as long to import as PyTorch, and a tape needs none of it.
    from torch._dynamo import exc
    from torch._subclasses import fake_tensor

    return (
        exc.Unsupported,
        exc.UserError,
        exc.UncapturedHigherOrderOpError,
        exc.InternalTorchDynamoError,
        exc.TorchRuntimeError,
        fake_tensor.DataDependentOutputException,
        fake_tensor.DynamicOutputShapeException,
        NotImplementedError,
    )
