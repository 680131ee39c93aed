"""The files to which MindSpore's kernels dump their outputs while a compiled graph runs."""

import ast
import re
import shutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from explorer.model.arrays import AnyArray

FILE_NAME = re.compile(
    r"^[^.]+\.(?P<scope>.+)-op(?P<number>\d+)\.\d+\.\d+\.(?P<time>\d+)"
    r"\.output\.(?P<slot>\d+)\.[^.]+\.\w+\.npy$"
)
"""Kernel type, scope, number of the operator, task, stream, time, slot, format, dtype (2.10.0)."""

HELD = {"<f2": "<f4", "<E2": "<f4", "<f8": "<f4", "<i8": "<i4"}
"""Types in headers of files that may hold another one of 4 bytes all the same (2.10.0).

MindSpore writes them where a kernel hands that one on: on the CPU ReduceSum and TensorMove float32,
max pooling with padding the int32 places of its maxima.
"""

LEFT = 256 << 20
"""How many bytes of earlier runs' values are left until the process ends."""

BFLOAT16 = "<E2"
"""The type under which MindSpore writes bfloat16, and which numpy does not know."""


class DumpedOutput(NamedTuple):
    """An output of a kernel: when its last run wrote it, the file, and how often it ran."""

    time: int
    path: Path
    runs: int = 1


Kernel = dict[int, DumpedOutput]
"""The outputs of one kernel by slot."""


def kernels_in(folders: Iterable[Path]) -> dict[str, list[Kernel]]:
    """The kernels that dumped into some folders, by scope and in the order of their numbers.

    A kernel that ran several times counts with its last run.
    """
    numbered: dict[str, dict[int, Kernel]] = {}
    for folder in folders:
        for path in folder.rglob("*.output.*.npy"):
            name = FILE_NAME.match(path.name)
            if name is None:
                continue
            kernel = numbered.setdefault(name["scope"], {}).setdefault(int(name["number"]), {})
            # In a loop a kernel runs several times, and dumps each time.
            slot = int(name["slot"])
            written = DumpedOutput(int(name["time"]), path)
            earlier = kernel.get(slot)
            if earlier is not None:
                runs = earlier.runs + 1
                written = max(earlier, written)._replace(runs=runs)
            kernel[slot] = written
    kernels: dict[str, list[Kernel]] = {}
    for scope, by_number in numbered.items():
        kernels[scope] = [kernel for _, kernel in sorted(by_number.items())]
    return kernels


def make_room(folders: Iterable[Path], left: int = LEFT) -> None:
    """Remove what earlier runs dumped into some folders, once it takes more than ``left`` bytes.

    Less is left where it is: ext4 looks at each file that was removed in the last seconds before it
    makes another, and where 2000 were removed, the next 2000 take 2 s longer.
    """
    folders = list(folders)
    size = 0
    for folder in folders:
        size += sum(path.stat().st_size for path in folder.rglob("*.npy"))
    if size > left:
        for folder in folders:
            # Errors are ignored: an earlier run's last files may still be on their way.
            shutil.rmtree(folder, ignore_errors=True)


def load(path: Path) -> AnyArray:
    """A dumped array; bfloat16 as float32.

    numpy's own reader knows neither the type of bfloat16 nor that a file may hold another type than
    its header says.
    """
    data = path.read_bytes()
    # Bytes 8 and 9 are the length of the header, which begins behind them.
    start = 10 + int.from_bytes(data[8:10], "little")
    dtype, shape, order = _header(data[10:start])
    if len(data) - start == 4 * int(np.prod(shape)):
        dtype = HELD.get(dtype, dtype)
    if dtype == BFLOAT16:
        # A bfloat16 is the upper half of a float32.
        upper = np.frombuffer(data, "<u2", offset=start).astype(np.uint32) << 16
        return upper.view(np.float32).reshape(shape, order=order)
    plain: AnyArray = np.frombuffer(data, dtype, offset=start)
    return plain.reshape(shape, order=order)


@cache  # thousands of files share a few headers
def _header(text: bytes) -> tuple[str, tuple[int, ...], Literal["C", "F"]]:
    """dtype, shape and order of a file (numpy.lib.format, version 1.0)."""
    header = ast.literal_eval(text.decode("latin1"))
    return header["descr"], header["shape"], "F" if header["fortran_order"] else "C"
