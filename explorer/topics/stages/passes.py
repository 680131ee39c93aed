"""The passes of MindSpore's compiler: their names, and the programs that they leave in files."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from explorer.engines.mindspore.ir import Module, read
from explorer.model.message import Text, message
from explorer.model.passes import FINAL, TYPED
from explorer.topics.stages.programs import change, counts, operators, phases

STEP = re.compile(r"^(\w+?)_r(\d+)_j\d+_\d+_(.+?)_*$")
"""A step within a pass, as its file is called: "opt_a_r1_j0_34_meta_fg_expand"."""

SUBSTEP = re.compile(r"^(\w+)\.r(\d+)\.(\w+)\.(\w+)$")
"""A step within a step: "opt_a.r1.a_2.merge_addn"."""

WITH_A_MEANING = frozenset(
    {
        "bootstrap",
        TYPED.file,
        "auto_monad",
        "meta_fg_expand",
        "renormalize",
        "a_1",
        "cse",
        "merge_addn",
        "updatestate_depend_eliminate",
        "updatestate_loads_eliminate",
        FINAL.file,
    }
)
"""The passes, by the last part of their names, of which words/ says what they are for."""


def readable(name: str) -> Text:
    """A pass's name without its numbers: "opt_a, round 1: meta_fg_expand"."""
    step = STEP.match(name)
    if step:
        return message("stages.round", name_of_pass=step[1], round=step[2], step=step[3])
    substep = SUBSTEP.match(name)
    if substep:
        return message("stages.round", name_of_pass=substep[1], round=substep[2], step=substep[4])
    return name


def short(name: str) -> str:
    """The last part of a pass's name: "meta_fg_expand"."""
    step = STEP.match(name)
    if step:
        return step[3]
    substep = SUBSTEP.match(name)
    return substep[4] if substep else name


FILE = re.compile(r"^(?:\d+_|opt_pass_\d+_|opt_substep_)?(.+?)_(\d+)$")
"""The name of a pass's file (2.10.0).

How its kind is numbered, the pass, and the running number.
"""

KERNELS = "graph_build_*.ir"
"""The texts of what goes to the kernels (2.10.0)."""


def written(folder: Path) -> list[Path]:
    """The texts of the passes from first to last, in the order in which they were written."""
    numbered = []
    for path in folder.glob("*.ir"):
        match = FILE.match(path.stem)
        if match:
            numbered.append((int(match[2]), path))
    # By the running number: the name begins with another one, which starts anew for some kinds.
    return [path for _, path in sorted(numbered)]


def after_each_pass(folder: Path, entry: str) -> Iterator[tuple[str, Module]]:
    """Each pass's name, and what it made of the program with the entry graph ``entry``.

    Up to the last pass; passes over parts of the program are left out.
    """
    previous_text = b""
    module: Module | None = None
    for path in written(folder):
        text = path.read_bytes()
        # Most passes change nothing, and parsing is what takes time: read each text once.
        if text != previous_text or module is None:
            previous_text = text
            module = read(path)
        name = FILE.sub(r"\1", path.stem)
        # "in": numbers that tell copies apart stand around the name.
        if entry in module.entry:
            yield name, module
            if name == FINAL.file:
                return


def program_after(folder: Path, entry: str, name: str) -> Module:
    """What the pass called ``name`` made of a program; LookupError where it did not run."""
    for pass_name, module in after_each_pass(folder, entry):
        if pass_name == name:
            return module
    raise LookupError(f"no pass {name!r} over {entry!r} was written to {folder}")


def final_program(folder: Path, entry: str) -> Module:
    """The program as it goes to the kernels."""
    return program_after(folder, entry, FINAL.file)


def sequence(folder: Path, entry: str) -> dict[str, Any]:
    """The counts of a program after every pass, and how many kernels it runs as.

    With each pass stands what it added and took away.
    """
    rows: list[dict[str, Any]] = []
    before: Counter[str] | None = None
    for name, module in after_each_pass(folder, entry):
        now = operators(module)
        # The first pass has nothing before it to have changed.
        changed = change(now if before is None else before, now)
        rows.append({"pass": name, **counts(module), **changed})
        before = now
    return {"passes": rows, "kernels": kernels(folder)}


def kernels(folder: Path) -> int:
    """How many nodes that compute something go to the kernels."""
    count = 0
    for path in sorted(folder.glob(KERNELS)):
        for graph in read(path).subgraphs:
            count += sum(phase != "bookkeeping" for phase in phases(graph))
    return count
