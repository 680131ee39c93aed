"""What measuring functions share: an attempt whose exception is a figure, and plain numbers of tensors; no framework here."""

import math
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from explorer.report.clean import one_line

RULE = re.compile(r"^\s*-{20,}\s*$", re.MULTILINE)
"""The lines with which MindSpore 2.10 rules its messages."""

STACK = re.compile(r"\n\s*- (C\+\+ Call Stack|The Traceback|Framework|The Function Call Stack)")
"""Where MindSpore's messages stop to speak of the program."""

CHANGING = ((re.compile(r"(?<=[A-Za-z])_\d{2,}\b"), "_…"), (re.compile(r"uid\(\d+\)"), "uid(…)"))
"""Running numbers of graphs, which are others at every run."""

LONGEST = 300
"""How many characters of a framework's message a figure keeps."""


def attempt(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What ``function`` returns, or {"raised": type, "message": text} of what it raised: no addresses, no stack of C++."""
    try:
        return function(*arguments, **options)
    except Exception as error:
        return {"raised": type(error).__name__, "message": message(str(error))}


def message(text: str) -> str:
    """A framework's message on one line, without rules, the stack of C++, and what is another at every run."""
    told = STACK.split(RULE.sub("", text), maxsplit=1)[0]
    for pattern, instead in CHANGING:
        told = pattern.sub(instead, told)
    return one_line(told, LONGEST)


def raised(figure: Any) -> bool:
    """Whether a figure is an attempt that raised."""
    return isinstance(figure, dict) and "raised" in figure


def said(figure: Any) -> str:
    """ "Type: message" of an attempt that raised."""
    return f"{figure['raised']}: {figure['message']}"


def number(value: Any) -> float:
    """A figure that is a number, also when it is spelt as a string: "NaN", "Infinity", "-Infinity"."""
    return float(value) if not isinstance(value, str) else float(value.replace("Infinity", "inf"))


def greatest_difference(one: Any, other: Any) -> float:
    """The greatest absolute difference of two nested lists of equal shape; infinite where shapes or finiteness differ."""
    left, right = (np.vectorize(number, otypes=[float])(np.array(each, dtype=object)) for each in (one, other))
    if left.shape != right.shape or not np.array_equal(np.isfinite(left), np.isfinite(right)):
        return math.inf
    kept = np.isfinite(left)
    return float(np.max(np.abs(left[kept] - right[kept]), initial=0.0))


def in_turn(calls: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The processor time in seconds of each call's first run, and the least of ``repeats`` more; the calls take turns."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats + 1):
        for name, call in calls.items():
            start = time.process_time()
            call()
            taken[name].append(time.process_time() - start)
    first = {f"{name}, first call": each[0] for name, each in taken.items()}
    return {**first, **{name: min(each[1:]) for name, each in taken.items()}}
