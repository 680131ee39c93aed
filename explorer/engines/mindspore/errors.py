"""Failures of MindSpore: where its messages end."""

import re

from explorer.engines import failures
from explorer.model.results import Failure

ENDS = re.compile(
    r"\n-{10,}\n- (?:C\+\+ Call Stack|The Traceback|Framework|The Function Call Stack)|\n-{20,}\n"
)
"""What follows the message proper (2.10.0): a ruled heading and a stack, or a rule alone."""


def failure(error: BaseException, scenario: str) -> Failure:
    """The record of an exception: its type, its message, and the scenario's line that it names.

    The message comes without stacks and machine paths.
    """
    # The compiler raises where the net is called; the line that it failed on is in the message
    # (2.10.0).
    return failures.failure(error, scenario, ENDS, prefer="message")
