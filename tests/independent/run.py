"""Prints what the programs find in one library: `python -m tests.independent.run mindspore`.

The libraries are those of FUNCTIONS. The JSON that is printed holds figures by program and by who found them.
"""

import importlib
import json
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.independent import mindspore_ir

FUNCTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "none": {"closed form": ("closed_form",)},
    "torch": {"torch": ("in_torch",)},
    "mindspore": {
        "mindspore-graph": ("in_mindspore", "in_mindspore_graph"),
        "mindspore-tape": ("in_mindspore", "in_mindspore_tape"),
    },
}
"""Who finds figures in each library, and how the names of the functions that do end.

A function that is called after one style is for that style alone. Each is given its framework.
"""

PROGRAM = re.compile(r"^def (row_\d+|study_\w+?)_(closed_form|in_\w+)\(", re.MULTILINE)
"""A program's name, `row_16`, and who finds figures in it: the function is `row_16_in_torch`."""

FOLDER = Path(__file__).parent / "programs"

Figures = dict[str, Any]


def programs() -> list[str]:
    """The names of all programs, read from their text: of a row of the claims, or of a study."""
    texts = [path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py")]
    return sorted({name for text in texts for name, _ in PROGRAM.findall(text)})


def figures_in(library: str) -> dict[str, dict[str, Figures]]:
    """What every program that has something to run in ``library`` finds there."""
    figures: dict[str, dict[str, Figures]] = {}
    for finder, endings in FUNCTIONS[library].items():
        framework = _prepared(finder)
        for path in sorted(FOLDER.glob("[a-z]*.py")):
            module = importlib.import_module(f"{__package__}.programs.{path.stem}")
            for name, function in PROGRAM.findall(path.read_text(encoding="utf-8")):
                if function in endings:
                    found = figures.setdefault(name, {}).setdefault(finder, {})
                    call = getattr(module, f"{name}_{function}")
                    found.update(call(framework) if framework else call())
    return figures


def _prepared(finder: str) -> ModuleType | None:
    """The framework of a finder, in its style; None for closed forms."""
    if finder.startswith("mindspore"):
        mindspore_ir.let_the_compiler_write()
        # What it warns of is a figure of row 73.
        os.environ["GLOG_v"] = "2"  # noqa: SIM112  # MindSpore writes it so
        import mindspore

        is_graph = finder == "mindspore-graph"
        mindspore.set_context(mode=mindspore.GRAPH_MODE if is_graph else mindspore.PYNATIVE_MODE)
        return mindspore  # type: ignore[no-any-return]
    if finder == "torch":
        import torch

        torch.set_num_threads(1)
        return torch  # type: ignore[no-any-return]
    return None


if __name__ == "__main__":
    print(json.dumps(figures_in(sys.argv[1])))
