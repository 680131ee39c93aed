"""Arguments that MindSpore hands on as numbers, as a user writes them: names and dtypes."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from mindspore._c_expression import op_enum, typing

ENUMERATIONS = {
    "approximate": ("none", "tanh"),
    "data_format": ("NCHW", "NHWC", "NCDHW"),
    "interpolation_mode": ("bilinear", "nearest", "bicubic"),
    "pad_mode": ("valid", "same", "pad"),
    "padding_mode": ("zeros", "border", "reflection"),
    "reduction": ("none", "mean", "sum"),
}
"""Arguments whose names MindSpore hands on as numbers, and the names that they may have."""

DTYPES = frozenset({"dtype", "dst_type", "dst_dtype", "argmax_type", "output_type"})
"""Arguments that are dtypes, which MindSpore hands on as numbers."""


def readable(named: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Arguments as a user writes them: names and dtypes in the place of their numbers."""
    for name, value in named.items():
        if isinstance(value, typing.Type):
            yield name, str(value).lower()
        elif isinstance(value, str):
            # Some are taken in capitals as well.
            known = {other.lower(): other for other in ENUMERATIONS.get(name, ())}
            yield name, known.get(value.lower(), value)
        elif isinstance(value, bool) or not isinstance(value, int):
            yield name, value
        elif name in DTYPES:
            yield name, str(typing.type_id_to_type(value)).lower()
        else:
            yield name, _numbered(name).get(value, value)


@cache
def _numbered(argument: str) -> dict[int, str]:
    """The names of an enumeration, by number."""
    names: dict[int, str] = {}
    for name in ENUMERATIONS.get(argument, ()):
        with suppress(ValueError):  # this version does not have it
            names[op_enum.str_to_enum("", argument, name)] = name
    return names
