"""The constants of a compiled program in full: the text that the compiler writes has six digits of each."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from mindspore.train.mind_ir_pb2 import ModelProto

DTYPES = {1: np.float32, 10: np.float16, 11: np.float64}
"""The types of tensors of floats, by their numbers in the protocol buffer (2.10.0)."""

NUMBERS = frozenset({"f", "d", "floats", "doubles"})
"""The fields that hold numbers."""

WEIGHTS = "parameter"
"""The field that holds parameters, which are no constants."""

NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]\d+)?")

FROM_SOURCE = "# In file"
"""What the lines begin with that name lines of the program."""


def with_whole_constants(text: str, program: bytes) -> str:
    """The text of a program, with constants taken from its protocol buffer.

    Where constants that differ have the same six digits, the text keeps these.
    """
    whole: dict[str, set[float]] = {}
    model = ModelProto()
    model.ParseFromString(program)
    for number in _floats(model):
        whole.setdefault(f"{number:g}", set()).add(number)
    exact = {}
    for digits, numbers in whole.items():
        if "." in digits and len(set(map(np.float32, numbers))) == 1:
            # One in double precision comes before its roundings.
            exact[digits] = repr(max(numbers, key=lambda number: np.float32(number) != number))
    lines = []
    for line in text.splitlines():
        if not line.lstrip().startswith(FROM_SOURCE):
            line = NUMBER.sub(lambda match: exact.get(match[0], match[0]), line)
        lines.append(line)
    return "\n".join(lines) + "\n"


def _floats(message: Any) -> Iterator[float]:
    """All floats in a protocol buffer."""
    for field, value in message.ListFields():
        if field.name == "raw_data" and message.data_type in DTYPES:
            yield from map(float, np.frombuffer(value, DTYPES[message.data_type]))
        elif field.name in NUMBERS:
            yield from [value] if isinstance(value, float) else value
        elif field.message_type is not None and field.name != WEIGHTS:
            for inner in [value] if hasattr(value, "ListFields") else value:
                yield from _floats(inner)
