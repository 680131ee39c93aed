"""Runs the programs on the pages of claims as they are shown there, and reads what they print.

`python -m tests.topics.shown_programs FOLDER PACKAGE` runs every program in FOLDER, one after
another, and writes what each printed, or its traceback, into a file of the program's name. PACKAGE
is the framework that they need.
"""

import contextlib
import importlib
import io
import os
import re
import runpy
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from explorer.model.message import Message
from explorer.shipped import PACKAGE
from explorer.text.numbers import plain

PAGES = PACKAGE.parent / "docs" / "claims"

LISTING = re.compile(r"^### (.*?)\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A program on a page: its heading, and its code."""

WORKER = re.compile(r"worker_environment\('([\w-]+)'")
"""What a program says of the variables that it must be started with."""

NUMBER = re.compile(r"-?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\binf\b|\bnan\b)")

NO_FIGURES = re.compile(r"shape=\[[^]]*\]|dtype=[\w.]+|Float\d+|grad_fn=<\w+>")
"""What frameworks print of a tensor beside its numbers."""

KNOWN = {"nan": float("nan"), "inf": float("inf"), "Message": Message}
"""The names in the text of figures that is printed."""


class Shown(NamedTuple):
    """A program on the page of claim ``row``, and the kind of process that it is run in."""

    row: int
    kind: str
    code: str


def shown_programs(row: int) -> Iterator[Shown]:
    """The programs on a claim's page, each below the guide's code where it uses that."""
    page = (PAGES / f"{row}.md").read_text(encoding="utf-8")
    of_guide: dict[str, list[str]] = {}
    for heading, code in LISTING.findall(page):
        library = "keras" if "Keras" in heading else "torch"
        if "MindSpore" in heading or "mindspore" in heading:
            library = "mindspore"
        if not heading.startswith("What was run"):
            of_guide.setdefault(library, []).append(code)
            continue
        pasted = of_guide.get(library, []) if "with the code above" in heading else []
        told = WORKER.search(code)
        kind = told[1] if told else library
        yield Shown(row, kind, "\n\n".join([*pasted, code]))


def printed_figures(text: str) -> list[Any]:
    """The figures in what a program printed, one a line, in plain form."""
    lines = [line for line in text.splitlines() if line.startswith("{")]
    return [plain(eval(line, dict(KNOWN))) for line in lines]  # the program's own figures


def printed_numbers(text: str) -> list[float]:
    """All numbers of the tensors in what a program printed, from left to right."""
    return [float(number) for number in NUMBER.findall(NO_FIGURES.sub("", text))]


def _run(path: Path) -> NoReturn:
    """Run a program, leave what it prints beside it, and end the process."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            runpy.run_path(str(path), run_name="__main__")
        except Exception:
            output.write(traceback.format_exc())
    path.with_suffix(".txt").write_text(output.getvalue(), encoding="utf-8")
    os._exit(0)


if __name__ == "__main__":
    importlib.import_module(sys.argv[2])  # once for all, which takes seconds
    for program in sorted(Path(sys.argv[1]).glob("*.py")):
        # Each in a process of its own: it chooses the device, and draws as a fresh process does.
        child = os.fork()
        if not child:
            _run(program)
        os.waitpid(child, 0)
