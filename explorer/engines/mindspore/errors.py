"""Failures of MindSpore: where its messages begin and end, and the missing kernels that they mean."""

import re
from collections.abc import Callable

from explorer.engines import failures
from explorer.model.results import Failure

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
    return failures.failure(error, scenario, message_proper, prefer="message")


def message_proper(text: str) -> str:
    """The message about the user's net: the operator, what is missing, and what to do."""
    statement = ENDS.split(HEADING.sub("", text), maxsplit=1)[0]
    statement = ADDRESS.sub("an object", statement)
    for pattern, say in MEANINGS:
        match = pattern.search(statement)
        if match:
            return say(match)
    return statement


def _no_kernel(match: re.Match[str]) -> str:
    operator = match["op"] or match["unregistered"]
    device = f"{match['device']} kernel" if match["device"] else "kernel on this device"
    return (
        f"MindSpore has no {device} for the operator {operator}; use other operators instead, or"
        " a device that has one"
    )


def _no_type(match: re.Match[str]) -> str:
    taken: dict[str, None] = {}
    for signature in match["signatures"].split(";"):
        inputs = signature.partition("output")[0].removeprefix("input")
        dtypes = " ".join(DTYPE.findall(inputs))
        if dtypes:
            taken[dtypes] = None
    given = " ".join(DTYPE.findall(match["given"]))
    return (
        f"MindSpore's {match['device']} kernel of the operator {match['op']} does not support"
        f" {given}; cast to a supported dtype: {_listed(list(taken))}"
    )


def _listed(dtypes: list[str], shown: int = 4) -> str:
    """The first of several dtypes, and how many there are beyond."""
    listed = " or ".join(dtypes[:shown])
    rest = len(dtypes) - shown
    return f"{listed} or one of {rest} more" if rest > 0 else listed


def _no_memory(match: re.Match[str]) -> str:
    return "internal error of MindSpore: it has no memory for an output of the operator"


def _valid_calls(match: re.Match[str]) -> str:
    signatures = re.findall(r'"[^"]*"', match["calls"])
    kept = "\n".join([match["failed"], *signatures[:SHOWN_CALLS]])
    rest = len(signatures) - SHOWN_CALLS
    return f"{kept}\nand {rest} more" if rest > 0 else kept


MEANINGS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (NO_KERNEL, _no_kernel),
    (NO_TYPE, _no_type),
    (NO_MEMORY, _no_memory),
    (VALID_CALLS, _valid_calls),
)
"""Messages that fill a screen or say nothing to a user, and what is said instead."""
