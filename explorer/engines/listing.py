"""Parts of code listings: how a scenario is imported, and how its inputs become tensors."""

from collections.abc import Sequence
from pathlib import Path

from explorer.scenario.declaration import Scenario
from explorer.scenario.find import FOLDER, module_name

COTANGENT_IMPORT = "from explorer.numeric.cotangents import cotangent"
"""The import of a listing with explicit cotangents."""


DRAWS = "# These dropout layers draw their own masks; in the report both nets have the same (SAME_DROPOUT)."
"""The remark in a listing on a net whose dropout was fixed."""


def gives_parameters(scenario: Scenario) -> bool:
    """Whether the scenario itself says where its nets start, so that a listing can ask it."""
    return hasattr(scenario.module, "parameters")


def scenario_import(scenario: Scenario, names: Sequence[str]) -> list[str]:
    """The lines that import ``names`` from a scenario, wherever its file lies."""
    wanted = ", ".join(names)
    shipped = module_name(scenario.path)
    if shipped:
        return [f"from {shipped} import {wanted}"]
    return [
        "import sys",
        "",
        f"sys.path.insert(0, {_folder(scenario.path.parent)!r})",
        f"from {scenario.name} import {wanted}",
    ]


def input_expressions(scenario: Scenario, tensor: str, aliased: bool = True) -> dict[str, str]:
    """The expression that makes each input, by its name, where ``arrays`` are the scenario's.

    ``tensor`` is the expression for an array that stands in the place of its ``{}``. With
    ``aliased``, an array under two names becomes one tensor: the second input is the first one's
    name.
    """
    expressions: dict[str, str] = {}
    first_names: dict[int, str] = {}
    for name, array in scenario.inputs().items():
        # The array object counts, not its values: two equal arrays are two tensors.
        first = first_names.setdefault(id(array), name)
        if aliased and first != name:
            expressions[name] = first
        else:
            expressions[name] = tensor.format(f"arrays[{name!r}]")
    return expressions


def _folder(folder: Path) -> str:
    """A folder as a listing names it: relative to where it is run from, if it lies there."""
    root = FOLDER.parent
    return str(folder.relative_to(root) if folder.is_relative_to(root) else folder)
