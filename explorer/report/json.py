"""Strict JSON: how documents are encoded, and how arrays are in them."""

import re
from typing import Any

import msgspec

from explorer.model.arrays import SMALL, Array, unpack
from explorer.numeric.summaries import summarise
from explorer.text.numbers import plain

Document = dict[str, Any]
"""Plain dicts, lists, strings and finite numbers, under keys in a stable order."""


NUMBERS = re.compile(rb"\[\n\s+([-+.\deE]+(?:,\n\s+[-+.\deE]+)*)\n\s+\]")
"""A list of numbers as it is indented, one a line."""

BREAK = re.compile(rb",\n\s+")


def encode(document: Document) -> bytes:
    """A document as UTF-8 JSON, indented by two, with a newline at the end.

    A list of numbers is one line: line by line, those of a large net are more spaces than digits.
    """
    indented = msgspec.json.format(msgspec.json.encode(document), indent=2)
    return NUMBERS.sub(_in_one_line, indented) + b"\n"


def _in_one_line(numbers: re.Match[bytes]) -> bytes:
    return b"[" + BREAK.sub(b", ", numbers[1]) + b"]"


def to_builtins(record: Any) -> Any:
    """A record as dicts and lists, under the names that its fields have in JSON."""
    return msgspec.to_builtins(record, str_keys=True)


def array_document(array: Array) -> Any:
    """All elements of a small array as nested lists; shape, dtype and statistics of a larger one.

    An array is small up to SMALL elements; one without dimensions is a bare number. What is
    not finite is "NaN", "Infinity" or "-Infinity".
    """
    if array.size <= SMALL:
        return plain(unpack(array).tolist())
    summary = array.excerpt.summary if array.excerpt else summarise(unpack(array), array.dtype)
    statistics = to_builtins(msgspec.structs.replace(summary, whole=None))
    # "whole" has raw bytes, which JSON has no place for.
    del statistics["whole"]
    return {"shape": list(array.shape), "dtype": array.dtype, **plain(statistics)}
