"""The parameters of a MindSpore net in PyTorch: their names, their layouts, and the Cells that have others.

The table is about 2.10.0 beside PyTorch 2.13.0. Cells that are not in it have PyTorch's names (but
for RENAMES) and shapes. That goes for LSTM, GRU, RNN, their cells, and MultiheadAttention too: gates,
split biases and packed projections lie as in PyTorch (tests/engines/test_known_cells.py runs each).
"""

from collections.abc import Mapping
from typing import NamedTuple

from explorer.scenario.layouts import Layout, Step

HOME = "mindspore.nn."
"""The package of the Cells in the table; those of mindspore.mint are like PyTorch's modules."""


class KnownCell(NamedTuple):
    """The parameters of a Cell, as far as they are unlike those of PyTorch's module.

    ``names`` are its own parameters and child Cells, by PyTorch's names; a child whose name is ""
    has no counterpart, and its parameters are the module's own. ``layouts`` are those of its own
    parameters. ``source`` says where it can be read.
    """

    source: str
    names: Mapping[str, str] = {}
    layouts: Mapping[str, Layout] = {}


DROPS_AXIS_2: Layout = (Step("squeeze", (2,)),)

RENAMES = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "embedding_table": "weight",
}
"""The last part of a parameter's name in MindSpore 2.10.0, and in PyTorch 2.13.0."""

KNOWN: Mapping[str, KnownCell] = {
    "Conv1d": KnownCell(
        "mindspore/nn/layer/conv.py, Conv1d: computed as a two-dimensional one of height 1",
        layouts={"weight": DROPS_AXIS_2},
    ),
    "Conv1dTranspose": KnownCell(
        "mindspore/nn/layer/conv.py, Conv1dTranspose: as Conv1d",
        layouts={"weight": DROPS_AXIS_2},
    ),
    "PReLU": KnownCell("mindspore/nn/layer/activation.py, PReLU: self.w", names={"w": "weight"}),
    "BatchNorm3d": KnownCell(
        "mindspore/nn/layer/normalization.py, BatchNorm3d: holds a BatchNorm2d",
        names={"bn2d": ""},
    ),
    "TransformerEncoderLayer": KnownCell(
        "mindspore/nn/layer/transformer.py, TransformerEncoderLayer",
        names={"dense1": "linear1", "dense2": "linear2"},
    ),
    "TransformerDecoderLayer": KnownCell(
        "mindspore/nn/layer/transformer.py, TransformerDecoderLayer",
        names={"dense1": "linear1", "dense2": "linear2"},
    ),
}
"""By the name of the Cell's class; classes that derive from it count as well."""


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
