"""Failures of MindSpore: where its messages begin and end, and the missing kernels that they mean."""

import re
from collections.abc import Callable

from explorer.engines import failures
from explorer.engines.failures import Statement
from explorer.model.failures import Failure

HEADING = re.compile(r"\A\s*-{20,}\n- [^\n]*\n-{20,}\n")
"""A ruled heading above the message proper (2.10.0)."""

ENDS = re.compile(
    r"\n-{10,}\n- (?:C\+\+ Call Stack|The Traceback|Framework|The Function Call Stack)|\n-{20,}\n"
    r"|\nnode: @"
)
"""What follows the message proper (2.10.0).

It is a ruled heading and a stack, or a rule alone, or a node with the number of its graph.
"""

ADDRESS = re.compile(r"\b0x[0-9a-f]{8,}\b")
"""An address in memory, another one at every run: "should be multi output, but got 0x562f8acc"."""

NO_KERNEL = re.compile(
    r"Unsupported op \[(?P<op>\w+)\] on (?P<device>\w+)|The kernel (?P<unregistered>\w+) unregistered"
)
"""An operator that has no kernel, by a compiler's word or by that of the tape (2.10.0)."""

NO_TYPE = re.compile(
    r"Select (?P<device>\w+) operator\[(?P<op>\w+)\] fail! Unsupported data type!"
    r"\s*The supported data types are (?P<signatures>.*?)[,;\s]*but get input\[(?P<given>.*?)\]"
    r"(?:[,\s]*(?:and )?output|\s*$)",
    re.DOTALL,
)
"""An operator whose kernels do not take the types of its operands (2.10.0)."""

NO_MEMORY = re.compile(r"Output_idx \d+ of node @.*?output addr is not exist", re.DOTALL)
"""An output for which the framework holds no memory, named by the numbers of its own nodes (2.10.0)."""

VALID_CALLS = re.compile(r"(?P<failed>.*?The valid calling should be:)\s*(?P<calls>.*)", re.DOTALL)
"""A call that fits none of an operator's signatures, each of which the message lists (2.10.0)."""

SHOWN_CALLS = 2
"""The number of an operator's signatures that a message keeps."""

DTYPE = re.compile(r"[A-Z]+[a-z]+\d*")
"""A dtype as MindSpore writes it in the signatures of kernels: Float32, BFloat16, Bool."""


def failure(error: BaseException, scenario: str) -> Failure:
    """The record of an exception: its type, its message, and the scenario's line that it names.

    The message comes without stacks and machine paths.
    """
    # The compiler raises where the net is called; the line that it failed on is in the message
    # (2.10.0).
    return failures.failure(error, scenario, statement, prefer="message")


def statement(text: str) -> Statement:
    """The message about the user's net, and what it means where it says that at length."""
    message = ENDS.split(HEADING.sub("", text), maxsplit=1)[0]
    message = ADDRESS.sub("an object", message)
    for pattern, meaning in MEANINGS:
        match = pattern.search(message)
        if match:
            return meaning(message, match)
    return Statement(message)


NOTHING = "None"
"""What MindSpore 2.10 gives for the dtype of an argument that is left out, or is an empty tuple."""


def _no_kernel(message: str, match: re.Match[str]) -> Statement:
    if match["op"]:
        return Statement(message, "no_kernel", (match["op"], match["device"]))
    return Statement(message, "no_kernel_here", (match["unregistered"],))


def _no_dtype(message: str, match: re.Match[str]) -> Statement:
    taken: dict[str, None] = {}
    for signature in match["signatures"].split(";"):
        inputs = signature.partition("output")[0].removeprefix("input")
        dtypes = " ".join(DTYPE.findall(inputs))
        if dtypes:
            taken[dtypes] = None
    given = " ".join(DTYPE.findall(match["given"]))
    if NOTHING in given.split():
        # No cast gives a value to an argument that has none.
        return Statement(message, "no_value", (match["device"], match["op"]))
    return Statement(message, "no_dtype", (match["device"], match["op"], given, *taken))


def _no_memory(message: str, match: re.Match[str]) -> Statement:
    return Statement(message, "no_memory")


def _valid_calls(message: str, match: re.Match[str]) -> Statement:
    signatures = re.findall(r'"[^"]*"', match["calls"])
    kept = "\n".join([match["failed"], *signatures[:SHOWN_CALLS]])
    return Statement(kept, left_out=max(0, len(signatures) - SHOWN_CALLS))


MEANINGS: tuple[tuple[re.Pattern[str], Callable[[str, re.Match[str]], Statement]], ...] = (
    (NO_KERNEL, _no_kernel),
    (NO_TYPE, _no_dtype),
    (NO_MEMORY, _no_memory),
    (VALID_CALLS, _valid_calls),
)
"""Messages that fill a screen or say nothing to a user, and what they mean."""
