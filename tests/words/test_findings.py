"""Every finding about two nets, in a sentence of each language."""

import re
from typing import Any, get_args

import pytest

from explorer.model.divergence import Place
from explorer.model.failures import Failure
from explorer.model.findings import (
    KINDS,
    EqualElements,
    Fact,
    HiddenByZeros,
    Holder,
    IllConditioned,
    LoneIntegers,
    LoneStart,
    LoneWeight,
    LoneWeights,
    MadeOf,
    NoiseUnknown,
    NonFinite,
    Omitted,
    OtherRole,
    OwnConvention,
    PackedParameters,
    PairedParameters,
    RandomDraw,
    RecordedOtherwise,
    ReportFinding,
    ReturnedClass,
    SameMasks,
    SilentBroadcast,
    Unmet,
    ZeroGradients,
)
from explorer.model.known import Reference
from explorer.text.language import said_in
from explorer.words.findings import sentence
from tests.support.divergence_records import other_value
from tests.support.standard_engines import ENGINES

SUB = Place(label="Sub", scope="bn", source="net.py:4")


def non_finite(*engines: str, maker: str = "t", **facts: Any) -> NonFinite:
    """A value of an input that is not a number in some engines, or what else is said of it."""
    known = {"value": "nan", "maker": Place(label=maker), "is_input": True, "engines": engines}
    return NonFinite(**{**known, **facts})


ZEROS = ZeroGradients(("fc.weight", "fc.bias"), ("scale",))

FACTS: list[tuple[Fact, str]] = [
    (
        non_finite(
            *("torch-tape", "torch-graph"),
            value="-inf",
            maker="log",
            is_input=False,
            inputs=(MadeOf(Place(label="p"), 0.0),),
            turned=Place(label="mul", source="net.py:5"),
            outputs=("out",),
            gradients=("dp",),
        ),
        "not finite: the output `out`, and then dp in both torch engines: `log` makes"
        " -inf from 0 of `p`, of which `mul` (net.py:5) makes nan",
    ),
    (
        non_finite(*ENGINES, gradients=("da", "db", "dc", "dd"), are_outputs_finite=True),
        "not finite: da, db, dc, …, while the outputs are finite, in all engines: `t` itself has nan",
    ),
    (
        non_finite("mindspore-tape", "torch-tape", "torch-graph", outputs=("out",)),
        "not finite: the output `out` in mindspore-tape, torch-tape and torch-graph: `t` itself",
    ),
    (
        non_finite(
            "torch-tape",
            value="unknown",
            maker="mm",
            is_input=False,
            inputs=(MadeOf(Place(label="x")),),
            outputs=("out",),
        ),
        "not finite: the output `out` in torch-tape: `mm` makes a value that is not finite from `x`",
    ),
    (
        EqualElements({"x": 1.0, "mask": 0.0}),
        "equal elements: all elements of an input are the same number: x (1), mask (0). Another axis,"
        " another order or a transposition changes nothing in them, so a mistake may show elsewhere than"
        " where it is. Give random numbers",
    ),
    (
        OwnConvention(SUB, "torch-tape", Reference("surprise", "ctc_gradient")),
        "convention: the gradient of `Sub` (bn, net.py:4) of torch-tape is not its derivative, so the"
        " oracle does not agree with it. Known: surprise “The gradient of CTC loss is that by the logits"
        " before a log-softmax”",
    ),
    (
        SilentBroadcast(SUB, "torch-tape", ((3, 1), (3,))),
        "broadcast: `Sub` (bn, net.py:4) of torch-tape takes the shapes (3, 1) and (3,) and makes"
        " (3, 3) of them, from which a loss is computed. If the elements belong together one by one,"
        " give both the same shape",
    ),
    (
        OtherRole("w", (Holder("torch", "trained"), Holder("mindspore", "frozen"))),
        "w is trained in PyTorch and frozen (requires_grad=False) in MindSpore",
    ),
    (
        OtherRole(
            "n", (Holder("mindspore", "trained", "int32"), Holder("torch", "buffer", "int64"))
        ),
        "n is trained, with values of int32, in MindSpore and a buffer, with values of int64, in PyTorch",
    ),
    (
        OtherRole("c", (Holder("torch", "trained"), Holder("mindspore", "constant"))),
        "c is trained in PyTorch and a plain tensor in MindSpore",
    ),
    (
        LoneWeight("w", (2, 3), "torch"),
        "w (2, 3) is trained only in PyTorch: MindSpore's net has no unpaired parameter of this size"
        " and kind; it may lack a layer or a bias, or share a weight between two layers",
    ),
    (
        LoneWeight("w", (2,), "mindspore"),
        "w (2,) is trained only in MindSpore: PyTorch's net has no unpaired parameter",
    ),
    (
        LoneWeights(("a.bias", "b.bias", "c.bias", "d.weight"), 3, "torch"),
        "4 weights are trained only in PyTorch, 3 of them biases (a.bias, b.bias, c.bias, …):"
        " MindSpore's net has none of their size and kind left",
    ),
    (
        PairedParameters(
            8, 9, {"name": 2, "order": 6}, (("f.0", "stem"), ("f.1", "bn")), 2, 2e-6, True
        ),
        "8 of 9 parameters are paired by names, shapes and order of declaration: f.0 ↔ stem,"
        " f.1 ↔ bn, …; from one start the outputs then agree up to 2e-06 of their norm",
    ),
    (
        PairedParameters(2, 2, {"value": 2}, (("f.0", "stem"),), 0, 0.13, False),
        "2 of 2 parameters are paired by names, shapes and values: f.0 ↔ stem; nothing confirms"
        " that: from one start the outputs then differ by 0.1 of their norm",
    ),
    (
        PairedParameters(2, 2, {"order": 2}, (("f.0", "stem"),), 0, None, False),
        "2 of 2 parameters are paired by names, shapes and order of declaration: f.0 ↔ stem; no run"
        " has confirmed it",
    ),
    (
        PackedParameters("torch", "qkv.weight", ("q.weight", "k.weight", "v.weight"), 0, True),
        "qkv.weight of PyTorch is q.weight, k.weight, v.weight of MindSpore, one after the other: they"
        " start with equal values, and are compared in PyTorch's pieces",
    ),
    (
        PackedParameters("mindspore", "kv.weight", ("k.weight", "v.weight"), 3, False),
        "kv.weight of MindSpore is k.weight, v.weight of PyTorch, one after the other, and so are 3"
        " more: they start with equal values; their gradients are not compared",
    ),
    (
        PackedParameters("torch", "kv.bias", ("k.bias", "v.bias"), 1, True),
        "kv.bias of PyTorch is k.bias, v.bias of MindSpore, one after the other, and so is 1 more:",
    ),
    (LoneIntegers("n", "int32"), "n is trained in MindSpore although its dtype is int32"),
    (LoneStart("w", "torch"), "parameters() gives w, which sets a value only in PyTorch's net"),
    (ReturnedClass("Output"), "MindSpore's net returns tensors in Output, a class with fields."),
    (
        Unmet(("a", "b"), "because"),
        "a, b: EXPECTED_FINDINGS lists a finding that does not occur: because",
    ),
    (
        SameMasks({"drop": 0.1, "top": 0.5}, {"drop": 0.1}),
        "dropout layers use the same random masks in both nets: drop (p = 0.1), top (p = 0.5) in"
        " PyTorch, drop (p = 0.1) in MindSpore;",
    ),
    (
        SameMasks({}, {"drop": 0.1, "top": 0.5}),
        "dropout layers in MindSpore's net alone: drop (p = 0.1), top (p = 0.5); nothing in the other"
        " net gets the same random masks, so each engine draws its own",
    ),
    (
        SameMasks({"drop": 0.1}, {}),
        "dropout layers in PyTorch's net alone: drop (p = 0.1); nothing",
    ),
    (
        IllConditioned(SUB, "torch-tape", 1e4, 1e-7, 1e-3, others=2),
        "ill-conditioned: `Sub` (bn, net.py:4) of torch-tape multiplies rounding errors by 10,000:"
        " relative to their size its inputs have an error of 1e-07, its outputs of 0.001; so do 2 more"
        " ops of this line",
    ),
    (
        NoiseUnknown("mindspore", Failure("crashed", "it died\nin the end")),
        "the rounding noise of MindSpore's results could not be measured for every case: it died; the"
        " other cases are compared by tolerances only",
    ),
    (
        RecordedOtherwise("torch-tape", {"dx": 1e-7, "dy": float("inf")}),
        "recording the graph changed the result of torch-tape: in the graph, dx differs by up to"
        " 1.0e-07 from the result without recording, dy is nan or infinite in other elements than"
        " without recording",
    ),
    (
        RecordedOtherwise("torch-tape", {"dx": 0.2}, is_altered=True),
        "recording the graph changed the result of torch-tape: in the graph, dx differs by up to"
        " 2.0e-01 from the result without recording. That is more than rounding: the graph shows"
        " another computation than the plain call, and no divergence is named from it",
    ),
    (
        RandomDraw(SUB, "torch-tape", ("dx", "dw")),
        "random numbers: `Sub` (bn, net.py:4) of torch-tape draws them; results that depend on them"
        " are not compared: dx, dw",
    ),
    (
        RandomDraw(SUB, "torch-tape", ("dx",), others=2),
        "random numbers: `Sub` (bn, net.py:4) of torch-tape draws them; results that depend on them"
        " are not compared: dx; 2 more ops draw random numbers",
    ),
    (
        Omitted("torch", {"cache": "DynamicCache", "name": "str"}),
        "PyTorch's net returns cache (DynamicCache), name (str) besides its tensors; only the tensors",
    ),
    (
        ZeroGradients(tuple(map(str, range(13))), ("scale",), agree_elsewhere=True),
        "parameters start as 0 (scale), and gradients are exactly 0 in every engine (0, 1, 2, 3, 4, 5, 6,"
        " 7, 8, 9, 10, 11 and 1 more): a mistake on the way to them changes nothing. From a start without"
        " these zeros the engines agree too",
    ),
    (
        HiddenByZeros(ZEROS, ("torch-tape", "mindspore-tape"), other_value()),
        "parameters start as 0 (scale), and gradients are exactly 0 in every engine (fc.weight, fc.bias):"
        " a mistake on the way to them changes nothing. From a start without these zeros, torch-tape and"
        " mindspore-tape differ. First divergence in forward: ",
    ),
]


@pytest.mark.parametrize(("fact", "text"), FACTS)
def test_a_finding_is_a_sentence(fact: Fact, text: str) -> None:
    finding = ReportFinding(fact=fact)
    assert sentence(finding).startswith(text)
    with said_in("zh"):
        chinese = sentence(finding)
    assert re.search(r"[一-鿿]{4,}", chinese), chinese
    assert not re.search(r"\b(the|is|of|in|and)\b", chinese), chinese


def test_every_fact_is_tried_and_is_of_a_kind() -> None:
    assert {type(fact) for fact, _ in FACTS} == set(get_args(Fact)) == set(KINDS)


def test_remarks_accuse_nobody() -> None:
    remarks = {type(fact) for fact, _ in FACTS if ReportFinding(fact=fact).is_remark}
    assert remarks == {
        SameMasks,
        IllConditioned,
        NoiseUnknown,
        RecordedOtherwise,
        RandomDraw,
        PairedParameters,
        PackedParameters,
        NonFinite,
        SilentBroadcast,
        OwnConvention,
        EqualElements,
        Omitted,
        ZeroGradients,
    }
