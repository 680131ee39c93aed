"""The names and layouts that the parameters of a MindSpore net have in PyTorch."""

from collections.abc import Mapping

from explorer.scenario.contract import RENAMES
from explorer.scenario.known_cells import KNOWN, KnownCell
from explorer.scenario.layouts import Layout

Cells = Mapping[str, KnownCell]
"""The known Cells of a net by their paths: "features.conv"."""


def known_cell(class_names: tuple[str, ...]) -> KnownCell | None:
    """The entry of a Cell whose class and base classes are called so, the class first."""
    for name in class_names:
        if name in KNOWN:
            return KNOWN[name]
    return None


def torch_name(path: str, own_name: str, cells: Cells, renames: Mapping[str, str]) -> str:
    """PyTorch's name of the parameter at ``path`` in the Cell tree.

    ``own_name`` is what the Parameter itself is called. ``renames`` may have either, or the path of
    a Cell around it; they come before ``cells`` and RENAMES.
    """
    for name in (path, own_name):
        if name in renames:
            return renames[name]

    parts = path.split(".")
    in_torch = [_part(parts, place, cells) for place in range(len(parts))]
    # The longest path of a Cell counts.
    for length in range(len(parts) - 1, 0, -1):
        prefix = ".".join(parts[:length])
        if prefix in renames:
            in_torch[:length] = [renames[prefix]]
            break
    return ".".join(part for part in in_torch if part)


def _part(parts: list[str], place: int, cells: Cells) -> str:
    """PyTorch's name of one part of a path; empty where PyTorch has no such module."""
    part = parts[place]
    cell = cells.get(".".join(parts[:place]))
    if cell and part in cell.names:
        return cell.names[part]
    is_last = place == len(parts) - 1
    return RENAMES.get(part, part) if is_last else part


def layout_of(path: str, name: str, cells: Cells, layouts: Mapping[str, Layout]) -> Layout:
    """The layout of the parameter at ``path``; no steps where it lies as in PyTorch.

    ``layouts`` may have its name in the Cell tree, or PyTorch's ``name``. They come before
    ``cells``.
    """
    for key in (path, name):
        if key in layouts:
            return layouts[key]
    module_path, _, last = path.rpartition(".")
    cell = cells.get(module_path)
    return cell.layouts.get(last, ()) if cell else ()
