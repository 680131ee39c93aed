"""Why two nets differ, found at MindSpore's op where PyTorch's net is written in several."""

from itertools import product
from pathlib import Path

import pytest

from explorer.model.alignment import Alignment
from explorer.model.causes import Cause, Mend
from explorer.model.graph import Arguments
from explorer.workers.workers import Workers
from tests.exploration.test_causes import PAIRS, changed, compared, rounded
from tests.support.causes import Mistake
from tests.support.mindspore_causes import BY_HAND
from tests.support.samples import some_rows

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

OF_PYTORCH: dict[str, Arguments] = {
    "axis of a norm": {"dim": (0,)},
    "axis of log softmax": {"dim": (0,)},
}
"""Those that an argument of an op of PyTorch's row explains as well: it is tried first."""


def causes(alignment: Alignment) -> list[Cause]:
    return [cause for cause in alignment.causes if cause is not None]


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
