"""Why two nets differ: arguments that were tried in the real frameworks, and that explain it."""

import ast
from itertools import product
from pathlib import Path

import pytest

from explorer.exploration.explore import explore
from explorer.model.causes import InputChange, InputHow, Mend, OtherInputs
from explorer.model.graph import Arguments
from explorer.model.report import Report
from explorer.scenario.load import load
from explorer.words.causes import sentence
from explorer.workers.workers import Workers
from tests.support.causes import IMAGE, MATRIX, MISTAKES, Mistake, net_with
from tests.support.samples import some, some_rows

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

PAIRS = (("torch-tape", "mindspore-graph"), ("mindspore-tape", "torch-graph"))

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
    found = [cause for cause in alignment.causes if cause is not None]
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
    (cause,) = [cause for cause in alignment.causes if cause is not None]
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
    "convolution": Mistake(
        "nn.Conv2d(3, 4, 3, stride=2, pad_mode='same', has_bias=True)",
        "nn.Conv2d(3, 4, 3, stride=2, padding=1)",
        (2, 3, 8, 8),
        None,
    ),
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

ENDS = {"wide windows": (0.0, 1.0, 1.0, 2.0)}


@pytest.mark.parametrize("name", some(SAME_PADDING, "max pooling"))
def test_padding_by_mode_is_found_by_padding_the_input(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    mistake = SAME_PADDING[name]
    (alignment,) = compared(mistake, PAIRS[0], tmp_path, workers).alignments
    (cause,) = [cause for cause in alignment.causes if cause is not None]
    how: InputHow = "padded_below" if name == "max pooling" else "padded"
    change = InputChange((0,), how, ENDS.get(name, (0.0, 1.0, 0.0, 1.0)))
    assert cause.change == OtherInputs(changes=(change,))

    (mend,) = cause.mends  # PyTorch's layers cannot pad so
    assert mend.side == "right"
    mended = mistake._replace(mindspore=changed(mistake.mindspore, mend))
    (alignment,) = compared(mended, PAIRS[0], tmp_path, workers).alignments
    assert alignment.divergence is None


BEHIND_THE_NORM = Mistake(
    "ops.mean(ops.group_norm(h, 1, eps=1e-2), (-2, -1))",
    "F.layer_norm(h.mean((-2, -1), keepdim=True).permute(0, 2, 3, 1), (3,)).permute(0, 3, 1, 2)",
    IMAGE,
    None,
)
"""A norm, and a mean over the pixels behind it; PyTorch's net has it ahead of the norm, with another eps."""


@pytest.mark.whole
def test_pooling_before_the_norm_is_found_though_the_norm_is_another_one_with_another_eps(
    tmp_path: Path, workers: Workers
) -> None:
    (alignment,) = compared(BEHIND_THE_NORM, PAIRS[0], tmp_path, workers).alignments
    (cause,) = [cause for cause in alignment.causes if cause is not None]
    assert isinstance(cause.change, OtherInputs)
    (ahead,) = cause.change.changes
    assert (cause.side, ahead.how) == ("right", "ahead")
    assert rounded(cause.change.arguments) == {"eps": 1e-5}
    assert "before `GroupNorm (" in sentence(cause, PAIRS[0])


MISSING_BIAS = {
    "convolution": Mistake("nn.Conv2d(3, 24, 1)", "nn.Conv2d(3, 24, 1)", (4, 3, 6, 6), None),
    "dense": Mistake("nn.Dense(6, 400, has_bias=False)", "nn.Linear(6, 400)", (4, 3, 6), None),
}
"""Layers of which MindSpore's has no bias; what they yield is not kept whole."""


@pytest.mark.whole
@pytest.mark.parametrize("name", MISSING_BIAS)
def test_a_bias_that_one_net_lacks_is_found_by_leaving_it_out(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    mistake = MISSING_BIAS[name]
    (alignment,) = compared(mistake, PAIRS[0], tmp_path, workers).alignments
    (cause,) = [cause for cause in alignment.causes if cause is not None]
    assert isinstance(cause.change, OtherInputs)
    (zeros,) = cause.change.changes
    assert (zeros.how, zeros.label) == ("zeroed", "layer.bias")

    sides = {mend.side: mend for mend in cause.mends}
    assert sides["right"].arguments == {"has_bias": True}
    mended = mistake._replace(torch=changed(mistake.torch, sides["left"]))
    (alignment,) = compared(mended, PAIRS[0], tmp_path, workers).alignments
    assert alignment.divergence is None


@pytest.mark.whole
def test_nothing_is_tried_where_two_graphs_are_the_same(tmp_path: Path, workers: Workers) -> None:
    (alignment,) = compared(MISTAKES["nothing"], PAIRS[0], tmp_path, workers).alignments
    assert alignment.divergence is None
    assert alignment.causes == ()


@pytest.mark.whole
def test_where_nothing_explains_it_what_was_tried_is_recorded(
    tmp_path: Path, workers: Workers
) -> None:
    mistake = Mistake("ops.erfc(h)", "nn.Tanh()", MATRIX, None)
    (alignment,) = compared(mistake, PAIRS[0], tmp_path, workers).alignments
    made = alignment.tried_at(0)
    assert alignment.cause(0) is None
    assert made
    assert made.tried > 0
    assert made.is_repeated
    assert made.fitting == ()
    assert made.nearest
