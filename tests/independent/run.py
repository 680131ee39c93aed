"""Prints what the programs find in one library: `python -m tests.independent.run mindspore`.

The libraries are those of FUNCTIONS. The JSON that is printed holds figures by program and by who found them.
"""

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.independent import mindspore_ir

FUNCTIONS = {
    "none": {"closed form": "closed_form"},
    "torch": {"torch": "in_torch"},
    "mindspore": {"mindspore-graph": "in_mindspore", "mindspore-tape": "in_mindspore"},
}
"""Who finds figures in each library, and the function of a program that does."""

Figures = dict[str, Any]


def programs() -> list[str]:
    """The names of all programs: one a row of the claims, one a study."""
    here = Path(__file__).parent
    return sorted(path.stem for pattern in ("row_*", "study_*") for path in here.glob(pattern))


def figures_in(library: str) -> dict[str, dict[str, Figures]]:
    """What every program that has something to run in ``library`` finds there."""
    figures: dict[str, dict[str, Figures]] = {}
    for finder, function in FUNCTIONS[library].items():
        _prepare(finder)
        # A function that is called after one style is for that style alone.
        for name in (function, f"in_{finder.replace('-', '_')}"):
            for program in programs():
                module = importlib.import_module(f"{__package__}.{program}")
                if hasattr(module, name):
                    found = figures.setdefault(program, {}).setdefault(finder, {})
                    found.update(getattr(module, name)())
            if name == f"in_{finder}":
                break
    return figures


def _prepare(finder: str) -> None:
    if finder.startswith("mindspore"):
        mindspore_ir.let_the_compiler_write()
        # What it warns of is a figure of row 73.
        os.environ["GLOG_v"] = "2"  # noqa: SIM112  # MindSpore writes it so
        import mindspore

        is_graph = finder == "mindspore-graph"
        mindspore.set_context(mode=mindspore.GRAPH_MODE if is_graph else mindspore.PYNATIVE_MODE)
    elif finder == "torch":
        import torch

        torch.set_num_threads(1)


if __name__ == "__main__":
    print(json.dumps(figures_in(sys.argv[1])))
