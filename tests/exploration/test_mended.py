"""Several mistakes of a port in one net: each is named in one run of the real frameworks."""

from itertools import product
from pathlib import Path

import pytest

from explorer.exploration.explore import explore
from explorer.model.alignment import Alignment
from explorer.model.causes import Cause
from explorer.model.divergence import Divergence, GradientAdded
from explorer.scenario.load import load
from explorer.words.causes import cause as cause_text
from explorer.words.mended import summary
from explorer.workers.workers import Workers
from tests.support.causes import MISTAKES, net_with
from tests.support.nets import NETS
from tests.support.samples import some_rows
from tests.support.several_mistakes import SEVERAL, Planted, Several, net_with_several
from tests.support.twin_nets import twin_file

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

PAIRS = (("torch-tape", "mindspore-graph"), ("mindspore-tape", "torch-graph"))


def compared(path: Path, engines: tuple[str, ...], workers: Workers) -> Alignment:
    report = explore(load(path), workers, engines=engines, selection="main", oracle=False)
    (alignment,) = report.alignments
    return alignment


def named(alignment: Alignment) -> list[tuple[Divergence, Cause | None]]:
    """All divergences with their causes, those behind as the last."""
    causes = alignment.causes or (None,) * len(alignment.divergences)
    found = list(zip(alignment.divergences, causes, strict=True))
    assert alignment.mended is not None
    return found + [(one.divergence, one.cause) for one in alignment.mended.behind]


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


def explained(cause: Cause | None) -> set[str]:
    """The arguments or the operator that a cause names."""
    return set() if cause is None else {*cause.arguments, cause.other_op}


@pytest.mark.parametrize(
    ("name", "engines"),
    some_rows(product(SEVERAL, PAIRS), ("four in a row", PAIRS[0])),
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
            assert any(planted.explained_by in explained(cause) for cause in causes), planted

    # Behind them nothing but mistakes is seen, and all else agrees.
    mended = alignment.mended
    assert mended is not None
    assert (mended.differing, mended.not_put_in, mended.end) == ((), (), "")
    assert mended.runs > 0
    lines = set().union(*(lines_of(planted, path) for planted in net.mistakes))
    for one in mended.behind:
        assert not lines.isdisjoint(sources(one.divergence))


def test_behind_a_single_mistake_there_is_nothing(tmp_path: Path, workers: Workers) -> None:
    alignment = compared(net_with(MISTAKES["slope of leaky relu"], tmp_path), PAIRS[0], workers)
    assert alignment.mended is not None
    assert (alignment.mended.behind, alignment.mended.differing) == ((), ())
    assert "gives the same results" in summary(alignment)


@pytest.mark.whole
def test_fifteen_norms_are_one_mistake_and_what_is_between_them_another(workers: Workers) -> None:
    alignment = compared(NETS / "divergences" / "many_norms.py", PAIRS[1], workers)
    first, *others = [cause for _, cause in named(alignment)]
    assert first is not None
    assert scopes(first) == [f"blocks.{number}.norm" for number in (1, 2, 3, 4, 5)]
    assert [cause and cause.other_op for cause in others] == ["aten.relu.default", ""]
    assert others[1] is not None
    # The ninth has one eps on both sides.
    assert scopes(others[1]) == [
        f"blocks.{number}.norm" for number in (7, 8, 10, 11, 12, 13, 14, 15)
    ]
    assert alignment.mended is not None
    assert (alignment.mended.end, alignment.mended.differing) == ("", ())


def scopes(cause: Cause) -> list[str]:
    """The modules in which the same mistake is too."""
    return [places[0].scope for places in cause.also_at]


def test_the_further_places_are_in_the_sentence(workers: Workers) -> None:
    said = cause_text(compared(twin_file("five_gelus"), PAIRS[1], workers))
    assert "so it does at 4 more places: `blocks.1.act, five_gelus.py:" in said
    assert "and 1 more" in said
