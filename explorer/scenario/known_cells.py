"""Cells of MindSpore that name or lay out their parameters in another way than PyTorch's modules.

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
