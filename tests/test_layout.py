"""Where a framework may be imported: at the head of the workers' modules only, and elsewhere only
inside a net's own function.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.scenario.contract import FOLDER

ROOT = FOLDER.parent
FRAMEWORKS = {"mindspore", "torch", "keras"}
NETS = {"mindspore_net", "torch_net"}
"""Functions of a file that follows the scenario's contract; only workers call them."""

OTHERS = [
    path
    for path in (ROOT / "app.py", *sorted((ROOT / "explorer").rglob("*.py")))
    if path.parent.name != "engines"
    and not path.name.startswith(("in_mindspore", "in_torch", "in_keras"))
]


def imported(node: ast.AST) -> Iterator[str]:
    """Packages that are imported in ``node``, but for the nets' own functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef) and child.name in NETS:
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name.split(".")[0] for alias in child.names)
        if isinstance(child, ast.ImportFrom) and child.module:
            yield child.module.split(".")[0]
        yield from imported(child)


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: str(Path(path).relative_to(ROOT)))
def test_only_modules_of_workers_import_a_framework(path: Path) -> None:
    assert not FRAMEWORKS & set(imported(ast.parse(path.read_text(encoding="utf-8"))))


def test_the_search_sees_an_import_inside_a_function_and_passes_over_a_net() -> None:
    assert set(imported(ast.parse("def f():\n    from torch import nn\n"))) == {"torch"}
    assert set(imported(ast.parse("def torch_net():\n    from torch import nn\n"))) == set()
