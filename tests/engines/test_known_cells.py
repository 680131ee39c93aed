"""Layers that both frameworks have: with MindSpore's values laid out as PyTorch's they compute alike."""

from pathlib import Path

import pytest

from explorer.compare.results.comparison import compare
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest
from explorer.scenario.common_start import settle
from explorer.scenario.layouts import KNOWN
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.engine_requests import answer
from tests.support.scenario_files import Side, normal, scenario_text, written

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

TAPES = ("torch-tape", "mindspore-tape")

LAYERS = {
    "Conv1d": ("Conv1d(2, 3, 3, pad_mode='valid', has_bias=True)", "Conv1d(2, 3, 3)", (1, 2, 6)),
    "Conv1dTranspose": (
        "Conv1dTranspose(2, 3, 4, pad_mode='pad', has_bias=True)",
        "ConvTranspose1d(2, 3, 4)",
        (1, 2, 6),
    ),
    "PReLU": ("PReLU(3)", "PReLU(3)", (2, 3)),
    "BatchNorm3d": ("BatchNorm3d(2)", "BatchNorm3d(2)", (2, 2, 1, 2, 2)),
    "TransformerEncoderLayer": (
        "TransformerEncoderLayer(4, 2, 8, dropout=0.0)",
        "TransformerEncoderLayer(4, 2, 8, dropout=0.0)",
        (3, 1, 4),
    ),
    "TransformerDecoderLayer": (
        "TransformerDecoderLayer(4, 2, 8, dropout=0.0)",
        "TransformerDecoderLayer(4, 2, 8, dropout=0.0)",
        (3, 1, 4),
    ),
    "LSTM": ("LSTM(2, 3, 2, bidirectional=True)",) * 2 + ((4, 1, 2),),
    "GRU": ("GRU(2, 3, 2, bidirectional=True)",) * 2 + ((4, 1, 2),),
    "RNN": ("RNN(2, 3)",) * 2 + ((4, 1, 2),),
    "GRUCell": ("GRUCell(2, 2)",) * 2 + ((4, 2),),
    "MultiheadAttention": ("MultiheadAttention(4, 2)",) * 2 + ((3, 1, 4),),
    "MultiheadAttention of three sizes": (
        ("MultiheadAttention(4, 2, kdim=4, vdim=4, add_bias_kv=True)",) * 2 + ((3, 1, 4),)
    ),
    "BiDense": ("BiDense(2, 2, 4)", "Bilinear(2, 2, 4)", (5, 2)),
    "Embedding": ("Embedding(6, 3)", "Embedding(6, 3)", (4,)),
}
"""Expressions of one layer in either framework, and the shape of its input."""

ARGUMENTS = {
    "MultiheadAttention": "x, x, x",
    "TransformerDecoder": "x, x",
    "BiDense": "x, x",
    "GRUCell": "x, x",
}
"""What a layer is called with, by the beginning of its name, where that is not ``x`` alone."""


def net_of(folder: Path, name: str) -> Path:
    """A scenario of one layer."""
    mindspore, torch, shape = LAYERS[name]
    arguments = "x"
    for beginning, own in ARGUMENTS.items():
        arguments = own if name.startswith(beginning) else arguments
    inputs = normal(*shape, seed=1)
    if name == "Embedding":
        inputs = 'return {"x": np.arange(4).astype(np.int32)}'
    lines = f"""
    y = self.layer({arguments})
    y = y[0] if isinstance(y, tuple) else y
    return (y * y * y).sum()
    """
    of_mindspore, of_torch = (
        Side(f"self.layer = nn.{layer}", lines) for layer in (mindspore, torch)
    )
    text = scenario_text(inputs, of_mindspore, of_torch, head="")
    return written(folder, text, f"layer_{name.lower().replace(' ', '_')}.py")


def test_every_known_cell_is_among_the_layers() -> None:
    assert KNOWN.keys() <= LAYERS.keys()


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_with_the_same_start_computes_the_same_in_both(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    nets = settle(load(net_of(tmp_path, name)), workers, TAPES, dict.fromkeys(TAPES, "cpu"))
    case = GradCase("value_and_grad", None if name == "Embedding" else 0, "all")
    answers = []
    for engine in TAPES:
        result = answer(workers, CaseRequest(nets.requests[engine], case))
        assert result.outcome == "ok", result.error
        answers.append(result)
    assert nets.findings == ()
    by_torch, by_mindspore = answers
    # Noise is not measured here, and the gradient of a key's bias is nothing but noise: PyTorch's
    # own table judges.
    comparison = compare(by_torch, by_mindspore)
    assert comparison.greatest is not None
    assert comparison.greatest.what == "value"
    assert comparison.in_torch_table, comparison
