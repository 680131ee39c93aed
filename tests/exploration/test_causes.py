"""Why two nets differ: arguments that explain it, tried in the real frameworks; several mistakes at once."""

import ast
import math
from itertools import product
from pathlib import Path

import pytest
from msgspec.structs import replace

from explorer.exploration.explore import explore
from explorer.model.alignment import Alignment
from explorer.model.causes import Cause, Factor, FromNode, InsertOperator, Mend, Rewire, Zeros
from explorer.model.divergence import Divergence, GradientAdded
from explorer.model.graph import Arguments, without_large
from explorer.scenario.load import load
from explorer.words.causes import cause as cause_text
from explorer.words.divergences import summary_line
from explorer.workers.workers import Workers
from tests.support.causes import (
    BY_HAND,
    MISTAKES,
    SEVERAL,
    Mistake,
    Planted,
    Several,
    net_with,
    net_with_several,
)
from tests.support.narrowing import of_type, present
from tests.support.nets import net_file
from tests.support.samples import some, some_rows

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

PAIRS = (("torch-tape", "mindspore-graph"), ("mindspore-tape", "torch-graph"))
TAPES = ("torch-tape", "mindspore-tape")

MATRIX = (4, 6)

DECOMPOSED = {("aligned corners", "torch-graph"): "ResizeBilinearV2"}
"""Where PyTorch's compiled graph has other ops in the place of the one with the argument, MindSpore's op."""

WITHOUT_MEND = {"number of groups", "aligned corners", "eps of batch norm without statistics"}
"""Those for which the table of correspondences says nothing."""

MENDED = [
    name for name, mistake in MISTAKES.items() if mistake.explained_by and name not in WITHOUT_MEND
]


def compared(path: Path, engines: tuple[str, ...], workers: Workers) -> Alignment:
    report = explore(load(path), workers, engines=engines, selection="main", oracle=False)
    (alignment,) = report.alignments
    return alignment


def causes(alignment: Alignment) -> list[Cause]:
    """The causes that were found."""
    return [one.cause for one in alignment.plain if one.cause is not None]


@pytest.mark.parametrize(
    ("name", "engines"),
    some_rows(product(MISTAKES, PAIRS), ("gelu by tanh", PAIRS[1]), ("nothing", PAIRS[1])),
)
def test_the_argument_that_makes_the_difference_is_found_by_trying_it(
    name: str, engines: tuple[str, ...], tmp_path: Path, workers: Workers
) -> None:
    alignment = compared(net_with(MISTAKES[name], tmp_path), engines, workers)
    found = causes(alignment)
    mistake = MISTAKES[name]
    if not mistake.is_explained:
        assert found == []
    elif (name, engines[1]) in DECOMPOSED:
        assert [cause.op for cause in found] == [DECOMPOSED[name, engines[1]]]
    else:
        (cause,) = found
        assert rounded(cause.arguments) == mistake.explained_by
        assert cause.other_op == mistake.other_op


@pytest.mark.parametrize("width", [24, pytest.param(300, marks=pytest.mark.whole)])
def test_a_cause_in_large_values_is_tried_element_by_element_kept_at_once_or_asked_for(
    width: int, tmp_path: Path, workers: Workers
) -> None:
    mistake = replace(MISTAKES["padding counted"], shape=(2, 3, width, width))
    path = net_with(mistake, tmp_path)
    report = explore(load(path), workers, engines=TAPES, selection="main", oracle=False)
    (alignment,) = report.alignments
    assert not present(alignment.divergence).gap.is_least
    (cause,) = causes(alignment)
    assert rounded(cause.arguments) == mistake.explained_by
    assert report.graphs == tuple(map(without_large, report.graphs))


@pytest.mark.parametrize("name", some(MENDED, "momentum the other way round"))
def test_what_is_to_be_written_really_mends_it(name: str, tmp_path: Path, workers: Workers) -> None:
    mistake = MISTAKES[name]
    alignment = compared(net_with(mistake, tmp_path), PAIRS[0], workers)
    (cause,) = causes(alignment)
    sides = {mend.side: mend for mend in cause.mends}
    assert sides.keys() == {"left", "right"}
    for net in (
        replace(mistake, torch=changed(mistake.torch, sides["left"])),
        replace(mistake, mindspore=changed(mistake.mindspore, sides["right"])),
    ):
        mended = compared(net_with(net, tmp_path), PAIRS[0], workers)
        assert mended.divergence is None, net


def changed(code: str, mend: Mend) -> str:
    """A call with the arguments of a mend."""
    call = of_type(ast.Call, ast.parse(code, mode="eval").body)
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


SAME_PADDING: dict[str, tuple[str, str, float, tuple[int, ...]]] = {
    "max pooling": (
        "nn.MaxPool2d(3, 2, pad_mode='same')",
        "nn.MaxPool2d(3, 2, padding=1)",
        -math.inf,
        (0, 1, 0, 1),
    ),
    "wide windows": (
        "nn.Conv2d(3, 4, (3, 5), stride=2, pad_mode='same', has_bias=True)",
        "nn.Conv2d(3, 4, (3, 5), stride=2, padding=(1, 2))",
        0.0,
        (0, 1, 1, 2),
    ),
}
"""Layers that pad more at the end of each axis than at its beginning, as no argument of PyTorch's does.

And with which number the input of PyTorch's layer is padded, and by how many at each end.
"""


@pytest.mark.parametrize("name", some(SAME_PADDING, "max pooling"))
def test_padding_by_mode_is_found_by_padding_the_input(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    mindspore, torch, number, ends = SAME_PADDING[name]
    mistake = Mistake(mindspore, torch, (2, 3, 8, 8))
    alignment = compared(net_with(mistake, tmp_path), PAIRS[0], workers)
    (cause,) = causes(alignment)
    pad = InsertOperator(op="pad", slots=(0,), factor=Factor(number), numbers=ends)
    assert (cause.form, cause.edits[0]) == ("inputs", pad)

    (mend,) = cause.mends  # PyTorch's layers cannot pad so
    assert mend.side == "right"
    mended = replace(mistake, mindspore=changed(mistake.mindspore, mend))
    alignment = compared(net_with(mended, tmp_path), PAIRS[0], workers)
    assert alignment.divergence is None


ALONE = {
    "clamp": ("ops.tanh(h)", "torch.tanh(torch.clamp(h, -0.3, 0.3))", "clamp"),
    "square ahead of a column": (
        "ops.exp(ops.square(h[:, :1])[:, 0])",
        "torch.exp(h[:, 0])",
        "square",
    ),
    "square in mindspore": ("ops.exp(ops.square(h))", "torch.exp(h)", "square"),
}
"""MindSpore's expression, PyTorch's, and the op that one of them leaves out."""


@pytest.mark.parametrize("name", some(ALONE, "square in mindspore", "square ahead of a column"))
def test_an_op_that_one_net_leaves_out_is_named(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    mindspore, torch, op = ALONE[name]
    mistake = Mistake(mindspore, torch, MATRIX)
    alignment = compared(net_with(mistake, tmp_path), TAPES, workers)
    removed = [cause for cause in causes(alignment) if cause.form in ("removed", "removed_op")]
    assert [cause for cause in removed if op in cause.op.lower()]


@pytest.mark.whole
def test_zeros_in_the_place_of_everything_explain_nothing(tmp_path: Path, workers: Workers) -> None:
    """A value that is zero throughout is soon equal to another one that is."""
    zeros = "h * ops.zeros_like(h)", "h * torch.rand_like(h).gt(2.0).logical_not()"
    alignment = compared(net_with(Mistake(*zeros, MATRIX), tmp_path), TAPES, workers)
    for cause in causes(alignment):
        first = cause.edits[0]
        is_rewired = isinstance(first, Rewire) and isinstance(first.source, FromNode)
        assert not (is_rewired and cause.form == "inputs")
        assert not (isinstance(first, InsertOperator) and first.op == "fill")


@pytest.mark.whole
def test_a_bias_that_one_net_lacks_is_found_by_leaving_it_out(
    tmp_path: Path, workers: Workers
) -> None:
    # What the layers yield is too large to be kept whole.
    mistake = Mistake("nn.Dense(6, 400, has_bias=False)", "nn.Linear(6, 400)", (4, 3, 6))
    alignment = compared(net_with(mistake, tmp_path), PAIRS[0], workers)
    (cause,) = causes(alignment)
    (edit,) = cause.edits
    assert of_type(Rewire, edit).source == Zeros("layer.bias")
    sides = {mend.side: mend for mend in cause.mends}
    assert sides["right"].arguments == {"has_bias": True}
    mended = replace(mistake, torch=changed(mistake.torch, sides["left"]))
    alignment = compared(net_with(mended, tmp_path), PAIRS[0], workers)
    assert alignment.divergence is None


# MindSpore's op where PyTorch's net is written in several

OF_PYTORCH: dict[str, Arguments] = {
    "axis of a norm": {"dim": (0,)},
    "axis of log softmax": {"dim": (0,)},
}
"""Those that an argument of an op of PyTorch's row explains as well: it is tried first."""


@pytest.mark.parametrize(
    ("name", "engines"), some_rows(product(BY_HAND, PAIRS), ("gelu by erf", PAIRS[0]))
)
def test_mindspores_op_is_tried_where_pytorch_has_several_and_its_mend_really_mends(
    name: str, engines: tuple[str, ...], tmp_path: Path, workers: Workers
) -> None:
    mistake = BY_HAND[name]
    alignment = compared(net_with(mistake, tmp_path), engines, workers)
    if not mistake.is_explained:
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
    net = replace(mistake, mindspore=mended(mistake.mindspore, here[0]))
    after = compared(net_with(net, tmp_path), engines, workers)
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
    alignment = compared(net_with(BY_HAND["gelu by erf"], tmp_path), PAIRS[0], workers)
    (cause,) = causes(alignment)
    (there,) = [mend for mend in cause.mends if mend.side != cause.side]
    net = Mistake("nn.GELU()", changed("F.gelu(h)", there), BY_HAND["gelu by erf"].shape)
    after = compared(net_with(net, tmp_path), PAIRS[0], workers)
    assert after.divergence is None


def named(alignment: Alignment) -> list[tuple[Divergence, Cause | None]]:
    """All divergences with their causes, those behind as the last."""
    return [(one.divergence, one.cause) for one in alignment.seen]


def lines_of(planted: Planted, path: Path) -> set[str]:
    """The lines of a scenario that hold a mistake, as divergences name them."""
    lines = path.read_text(encoding="utf-8").splitlines()
    pieces = list(filter(None, (planted.torch, planted.mindspore)))
    return {
        f"{path.name}:{number}"
        for number, line in enumerate(lines, start=1)
        if any(piece in line for piece in pieces)
    }


def sources(divergence: Divergence) -> set[str]:
    """The lines at which a divergence is, and that of a gradient that one side alone adds."""
    at_ends = {end.source for end in divergence.ends}
    return at_ends | {divergence.term.source} if isinstance(divergence, GradientAdded) else at_ends


@pytest.mark.parametrize(
    ("name", "engines"), some_rows(product(SEVERAL, PAIRS), ("four in a row", PAIRS[0]))
)
def test_all_mistakes_of_a_net_are_named_in_one_run_and_nothing_else(
    name: str, engines: tuple[str, ...], tmp_path: Path, workers: Workers
) -> None:
    net: Several = SEVERAL[name]
    path = net_with_several(net, tmp_path)
    alignment = compared(path, engines, workers)
    found = named(alignment)
    for planted in net.mistakes:
        lines = lines_of(planted, path)
        causes = [cause for divergence, cause in found if not lines.isdisjoint(sources(divergence))]
        assert causes, planted
        if planted.explained_by:
            named_by = [{*cause.arguments, cause.other_op} for cause in causes if cause]
            assert any(planted.explained_by in names for names in named_by), planted

    # Behind them nothing but mistakes is seen, and all else agrees.
    mended = present(alignment.mended)
    assert (mended.differing, mended.not_put_in, mended.end) == ((), (), "")
    assert mended.runs > 0
    lines = set().union(*(lines_of(planted, path) for planted in net.mistakes))
    for one in alignment.behind:
        assert not lines.isdisjoint(sources(one.divergence))


def test_behind_a_single_mistake_there_is_nothing(tmp_path: Path, workers: Workers) -> None:
    alignment = compared(net_with(MISTAKES["slope of leaky relu"], tmp_path), PAIRS[0], workers)
    assert alignment.mended is not None
    assert (alignment.behind, alignment.mended.differing) == ((), ())
    assert "gives the same results" in summary_line(alignment)


@pytest.mark.parametrize("engines", PAIRS)
def test_behind_ops_of_one_side_all_that_reads_them_goes_on(
    engines: tuple[str, ...], workers: Workers
) -> None:
    alignment = compared(net_file("convolutions_behind_a_pad"), engines, workers)
    assert [cause and cause.arguments for _, cause in named(alignment)] == [{"pad": (1, 1)}] * 2
    # What MindSpore's net has to be given, which pads in its layers, no argument of a pad says.
    assert {m.call for _, cause in named(alignment) if cause for m in cause.mends} == {
        "torch.nn.functional.pad"
    }
    mended = present(alignment.mended)
    assert (mended.differing, mended.not_put_in, mended.end) == ((), (), "")


@pytest.mark.whole
def test_fifteen_norms_are_one_mistake_and_what_is_between_them_another(workers: Workers) -> None:
    alignment = compared(net_file("many_norms"), PAIRS[1], workers)
    first, *others = [cause for _, cause in named(alignment)]
    assert first is not None
    # The ninth has one eps on both sides.
    others_of_one = [number for number in range(1, 16) if number != 9]
    assert scopes(first) == [f"blocks.{number}.norm" for number in others_of_one]
    assert [cause and cause.other_op for cause in others] == ["aten.relu.default"]
    assert alignment.mended is not None
    assert (alignment.mended.end, alignment.mended.differing) == ("", ())


def scopes(cause: Cause) -> list[str]:
    """The modules in which the same mistake is too."""
    return [places[0].scope for places in cause.also_at]


def test_the_further_places_are_in_the_sentence(workers: Workers) -> None:
    said = cause_text(compared(net_file("five_gelus"), PAIRS[1], workers))
    assert "so it does at 4 more places: `blocks.1.act, five_gelus.py:" in said
    assert "and 1 more" in said
