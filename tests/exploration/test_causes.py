"""Why two nets differ: arguments that were tried in the real frameworks, and that explain it."""

import ast
from itertools import product
from pathlib import Path

import pytest

from explorer.exploration.explore import explore
from explorer.model.alignment import Alignment
from explorer.model.causes import Cause, InputChange, InputHow, LeftOut, Mend, OtherInputs, Related
from explorer.model.graph import Arguments
from explorer.model.report import Report
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.causes import MATRIX, MISTAKES, Mistake, net_with
from tests.support.mindspore_causes import BY_HAND
from tests.support.samples import some, some_rows

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

PAIRS = (("torch-tape", "mindspore-graph"), ("mindspore-tape", "torch-graph"))
TAPES = ("torch-tape", "mindspore-tape")

DECOMPOSED = {("aligned corners", "torch-graph"): "ResizeBilinearV2"}
"""Where PyTorch's compiled graph has other ops in the place of the one with the argument, MindSpore's op."""


WITHOUT_MEND = {
    "number of groups",
    "aligned corners",
    "eps of batch norm without statistics",
}
"""Those for which the table of correspondences says nothing."""

MENDED = [
    name for name, mistake in MISTAKES.items() if mistake.explained_by and name not in WITHOUT_MEND
]


def compared(mistake: Mistake, engines: tuple[str, ...], folder: Path, workers: Workers) -> Report:
    scenario = load(net_with(mistake, folder))
    return explore(scenario, workers, engines=engines, selection="main", oracle=False)


def causes(alignment: Alignment) -> list[Cause]:
    """The causes that were found."""
    return [cause for cause in alignment.causes if cause is not None]


@pytest.mark.parametrize(
    ("name", "engines"),
    some_rows(
        product(MISTAKES, PAIRS),
        ("gelu by tanh", PAIRS[1]),
        ("nothing", PAIRS[1]),
    ),
)
def test_the_argument_that_makes_the_difference_is_found_by_trying_it(
    name: str, engines: tuple[str, ...], tmp_path: Path, workers: Workers
) -> None:
    (alignment,) = compared(MISTAKES[name], engines, tmp_path, workers).alignments
    found = causes(alignment)
    explained_by = MISTAKES[name].explained_by
    assert len(alignment.causes) in (0, len(alignment.divergences))  # 0 where nothing can be tried
    if explained_by is None:
        assert found == []
    elif (name, engines[1]) in DECOMPOSED:
        assert [cause.op for cause in found] == [DECOMPOSED[name, engines[1]]]
    else:
        (cause,) = found
        assert rounded(cause.arguments) == explained_by
        assert cause.other_op == MISTAKES[name].other_op


@pytest.mark.parametrize("name", some(MENDED, "momentum the other way round"))
def test_what_is_to_be_written_really_mends_it(name: str, tmp_path: Path, workers: Workers) -> None:
    mistake = MISTAKES[name]
    (alignment,) = compared(mistake, PAIRS[0], tmp_path, workers).alignments
    (cause,) = causes(alignment)
    sides = {mend.side: mend for mend in cause.mends}
    assert sides.keys() == {"left", "right"}
    for net in (
        mistake._replace(torch=changed(mistake.torch, sides["left"])),
        mistake._replace(mindspore=changed(mistake.mindspore, sides["right"])),
    ):
        (mended,) = compared(net, PAIRS[0], tmp_path, workers).alignments
        assert mended.divergence is None, net


def changed(code: str, mend: Mend) -> str:
    """A call with the arguments of a mend."""
    call = ast.parse(code, mode="eval").body
    assert isinstance(call, ast.Call)
    assert ast.unparse(call.func).rpartition(".")[2] == mend.call.rpartition(".")[2]
    kept = [keyword for keyword in call.keywords if keyword.arg not in mend.arguments]
    for name, value in mend.arguments.items():
        kept.append(ast.keyword(name, ast.parse(repr(value), mode="eval").body))
    call.keywords = kept
    return ast.unparse(call)


def rounded(arguments: Arguments) -> Arguments:
    """Arguments with the digits that single precision has."""
    return {
        name: round(value, 6) if isinstance(value, float) else value
        for name, value in arguments.items()
    }


SAME_PADDING = {
    "max pooling": Mistake(
        "nn.MaxPool2d(3, 2, pad_mode='same')", "nn.MaxPool2d(3, 2, padding=1)", (2, 3, 8, 8), None
    ),
    "wide windows": Mistake(
        "nn.Conv2d(3, 4, (3, 5), stride=2, pad_mode='same', has_bias=True)",
        "nn.Conv2d(3, 4, (3, 5), stride=2, padding=(1, 2))",
        (2, 3, 8, 8),
        None,
    ),
}
"""Layers that pad more at the end of each axis than at its beginning, as no argument of PyTorch's does."""

PADDED: dict[str, tuple[InputHow, tuple[float, ...]]] = {
    "max pooling": ("padded_below", (0.0, 1.0, 0.0, 1.0)),
    "wide windows": ("padded", (0.0, 1.0, 1.0, 2.0)),
}
"""How the input of PyTorch's layer is padded, and by how much at each end."""


@pytest.mark.parametrize("name", some(SAME_PADDING, "max pooling"))
def test_padding_by_mode_is_found_by_padding_the_input(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    mistake = SAME_PADDING[name]
    (alignment,) = compared(mistake, PAIRS[0], tmp_path, workers).alignments
    (cause,) = causes(alignment)
    how, ends = PADDED[name]
    change = InputChange((0,), how, ends)
    assert cause.change == OtherInputs(changes=(change,))

    (mend,) = cause.mends  # PyTorch's layers cannot pad so
    assert mend.side == "right"
    mended = mistake._replace(mindspore=changed(mistake.mindspore, mend))
    (alignment,) = compared(mended, PAIRS[0], tmp_path, workers).alignments
    assert alignment.divergence is None


ALONE = {
    "clamp": ("ops.tanh(h)", "torch.tanh(torch.clamp(h, -0.3, 0.3))", "clamp"),
    "square in mindspore": ("ops.exp(ops.square(h))", "torch.exp(h)", "square"),
}
"""MindSpore's expression, PyTorch's, and the op that one of them leaves out."""


@pytest.mark.parametrize("name", some(ALONE, "square in mindspore"))
def test_an_op_that_one_net_leaves_out_is_named(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    mindspore, torch, op = ALONE[name]
    mistake = Mistake(mindspore, torch, MATRIX, None)
    (alignment,) = compared(mistake, TAPES, tmp_path, workers).alignments
    left_out = [cause for cause in causes(alignment) if isinstance(cause.change, LeftOut)]
    assert [cause for cause in left_out if op in cause.op.lower()]


@pytest.mark.whole
def test_zeros_in_the_place_of_everything_explain_nothing(tmp_path: Path, workers: Workers) -> None:
    """A value that is zero throughout is soon equal to another one that is."""
    zeros = "h * ops.zeros_like(h)", "h * torch.rand_like(h).gt(2.0).logical_not()"
    (alignment,) = compared(Mistake(*zeros, MATRIX, None), TAPES, tmp_path, workers).alignments
    for cause in causes(alignment):
        change = cause.change
        assert not (isinstance(change, OtherInputs) and change.changes[0].how == "replaced")
        assert not (isinstance(change, Related) and change.how == "masked")


@pytest.mark.whole
def test_a_bias_that_one_net_lacks_is_found_by_leaving_it_out(
    tmp_path: Path, workers: Workers
) -> None:
    # What the layers yield is too large to be kept whole.
    mistake = Mistake("nn.Dense(6, 400, has_bias=False)", "nn.Linear(6, 400)", (4, 3, 6), None)
    (alignment,) = compared(mistake, PAIRS[0], tmp_path, workers).alignments
    (cause,) = causes(alignment)
    assert isinstance(cause.change, OtherInputs)
    (zeros,) = cause.change.changes
    assert (zeros.how, zeros.label) == ("zeroed", "layer.bias")
    sides = {mend.side: mend for mend in cause.mends}
    assert sides["right"].arguments == {"has_bias": True}
    mended = mistake._replace(torch=changed(mistake.torch, sides["left"]))
    (alignment,) = compared(mended, PAIRS[0], tmp_path, workers).alignments
    assert alignment.divergence is None


# MindSpore's op where PyTorch's net is written in several

OF_PYTORCH: dict[str, Arguments] = {
    "axis of a norm": {"dim": (0,)},
    "axis of log softmax": {"dim": (0,)},
}
"""Those that an argument of an op of PyTorch's row explains as well: it is tried first."""


@pytest.mark.parametrize(
    ("name", "engines"),
    some_rows(product(BY_HAND, PAIRS), ("gelu by erf", PAIRS[0])),
)
def test_mindspores_op_is_tried_where_pytorch_has_several_and_its_mend_really_mends(
    name: str, engines: tuple[str, ...], tmp_path: Path, workers: Workers
) -> None:
    mistake = BY_HAND[name]
    (alignment,) = compared(mistake, engines, tmp_path, workers).alignments
    if mistake.explained_by is None:
        assert causes(alignment) == []
        return
    (cause,) = causes(alignment)
    if name in OF_PYTORCH:
        assert engines[cause.side == "right"].startswith("torch")
        assert cause.arguments == OF_PYTORCH[name]
        return
    assert engines[cause.side == "right"].startswith("mindspore")
    assert rounded(cause.arguments) == mistake.explained_by
    assert cause.other_op == mistake.other_op
    here = [mend for mend in cause.mends if mend.side == cause.side]
    net = mistake._replace(mindspore=mended(mistake.mindspore, here[0]))
    (after,) = compared(net, engines, tmp_path, workers).alignments
    assert after.divergence is None, net


def mended(code: str, mend: Mend) -> str:
    """A call with the arguments of a mend, or the function of the mend in its place."""
    if code.partition("(")[0] == mend.call:
        return changed(code, mend)
    return changed(f"{mend.call}(h)", mend)


@pytest.mark.whole
def test_what_is_to_be_written_in_pytorchs_net_is_the_function_that_mindspore_calls(
    tmp_path: Path, workers: Workers
) -> None:
    (alignment,) = compared(BY_HAND["gelu by erf"], PAIRS[0], tmp_path, workers).alignments
    (cause,) = causes(alignment)
    (there,) = [mend for mend in cause.mends if mend.side != cause.side]
    net = Mistake("nn.GELU()", changed("F.gelu(h)", there), BY_HAND["gelu by erf"].shape, None)
    (after,) = compared(net, PAIRS[0], tmp_path, workers).alignments
    assert after.divergence is None
