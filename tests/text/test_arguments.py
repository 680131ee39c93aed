"""Arguments and layers, written as a user of the framework writes them."""

import math
from typing import get_args

import pytest

from explorer.model.graph import Absence, ArgumentGap, Arguments, ArgumentValue, Layer
from explorer.text.arguments import (
    IMPORTANT,
    LONGEST,
    argument_text,
    arguments_text,
    call_text,
    layer_text,
    main_arguments,
)
from explorer.text.language import said_in
from explorer.words.graphs import what_is_missing, why_missing


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("dim", -1, "dim=-1"),
        ("eps", 1e-05, "eps=1e-05"),
        ("eps", 0.001, "eps=0.001"),
        ("momentum", 0.10000000149011612, "momentum=0.1"),  # 0.1 in float32
        ("momentum", 0.1, "momentum=0.1"),
        ("p", 0.10000000149011613, "p=0.10000000149011613"),
        ("scale", 1e300, "scale=1e+300"),
        ("other", 2.0, "other=2.0"),
        ("value", -math.inf, "value=-inf"),
        ("value", math.nan, "value=nan"),
        ("approximate", "none", "approximate='none'"),
        ("dtype", "float32", "dtype=float32"),
        ("input_dtype", "bfloat16", "input_dtype=bfloat16"),
        ("bias", None, "bias=None"),
        ("keepdim", True, "keepdim=True"),
        ("stride", (2, 2), "stride=(2, 2)"),
        ("axis", (-1,), "axis=(-1,)"),
        ("size", (), "size=()"),
        ("pads", ((0, 1), (2, 3)), "pads=((0, 1), (2, 3))"),
        ("size", tuple(range(8)), "size=(0, 1, 2, 3, 4, 5, 6, 7)"),
        ("size", tuple(range(9)), "size=(0, 1, 2, 3, 4, 5, 6, 7, …)"),
    ],
)
def test_an_argument_is_written_as_in_a_call(name: str, value: ArgumentValue, text: str) -> None:
    assert argument_text(name, value) == text


@pytest.mark.parametrize("name", ["mode", "dtype"])
def test_a_foreign_text_is_short_and_cannot_act(name: str) -> None:
    text = argument_text(f"{name[:2]}\x1b{name[2:]}", "\u202e\n'" + "x" * 1000)
    assert text.isprintable()
    assert "\\x1b" in text
    assert "\\u202e" in text
    assert text.count("x" * LONGEST) == 0
    assert "…" in text


def test_a_layer_is_written_as_it_is_made() -> None:
    layer = Layer("nn.BatchNorm2d", {"momentum": 0.9, "eps": 1e-3})
    assert layer_text(layer) == "nn.BatchNorm2d(momentum=0.9, eps=0.001)"
    assert layer_text(Layer("nn.ReLU")) == "nn.ReLU()"


@pytest.mark.parametrize(
    ("op", "arguments", "text"),
    [
        (
            "aten.convolution_backward.default",
            {
                "bias_sizes": (3,),
                "groups": 4,
                "dilation": (2, 2),
                "padding": (0, 0),
                "stride": (1, 1),
                "output_mask": (True, True, True),
            },
            "stride=(1, 1), padding=(0, 0), groups=4",
        ),
        (
            "Conv2D",
            {"mode": 1, "pad": (1, 1, 1, 1), "pad_mode": "same", "stride": (1, 1, 2, 2)},
            "stride=(1, 1, 2, 2), pad_mode='same', pad=(1, 1, 1, 1)",
        ),
        (
            "BatchNorm",
            {"is_training": False, "epsilon": 1e-3, "momentum": 0.1, "data_format": "NCHW"},
            "epsilon=0.001, momentum=0.1, is_training=False",
        ),
        ("aten._softmax.default", {"dim": -1, "half_to_float": False}, "dim=-1"),
        ("aten.sum.dim_IntList", {"dim": (0,), "keepdim": True}, "dim=(0,), keepdim=True"),
        ("ReduceMean", {"axis": (), "keep_dims": False}, ""),
        ("aten.mean.default", {"dtype": None}, ""),
        ("aten.gelu.default", {"approximate": "none"}, "approximate='none'"),
        ("aten.addmm.default", {"beta": 1, "alpha": 1}, ""),
        ("aten.addmm.default", {"beta": 2, "alpha": 1}, "beta=2"),
        ("aten.elu.default", {"alpha": 1}, "alpha=1"),
        ("MatMul", {"transpose_a": False, "transpose_b": True}, "transpose_b=True"),
        ("aten.mse_loss.default", {"reduction": "mean"}, "reduction='mean'"),
        (
            "aten.nll_loss_forward",
            {"ignore_index": -100, "reduction": "sum"},
            "reduction='sum', ignore_index=-100",
        ),
        ("a.new.op", {"a": None, "b": 1, "c": 2, "d": 3, "e": 4}, "b=1, c=2, d=3"),
    ],
)
def test_those_that_matter_most_come_first_and_those_without_effect_never(
    op: str, arguments: Arguments, text: str
) -> None:
    assert arguments_text(main_arguments(op, arguments)) == text
    assert call_text(op, arguments) == (f"{op}({text})" if text else op)


def test_a_family_of_operators_has_one_row() -> None:
    families = " ".join(IMPORTANT).split()
    assert len(families) == len(set(families))


@pytest.mark.parametrize("kind", get_args(ArgumentGap))
@pytest.mark.parametrize("language", ["en", "zh"])
def test_why_arguments_are_missing_is_said_in_either_language(
    kind: ArgumentGap, language: str
) -> None:
    with said_in(language):
        said = f"{what_is_missing('arguments')}: {why_missing(Absence(kind, 'dim'))}"
    assert "{" not in said
    assert ("dim" in said) == (kind in ("long_argument", "computed_argument"))
    assert said.isascii() == (language == "en")
