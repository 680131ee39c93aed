"""One mistake in many equal layers: its cause is tried at each of them and named once."""

import pytest

from explorer.exploration.explore import explore
from explorer.model.alignment import Alignment
from explorer.scenario.load import load
from explorer.words.causes import cause as cause_text
from explorer.workers.workers import Workers
from tests.support.nets import NETS
from tests.support.samples import some

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

PAIRS = [("torch-tape", "mindspore-graph"), ("mindspore-tape", "torch-graph")]


@pytest.fixture(params=some(PAIRS, PAIRS[1]), ids=" ".join)
def engines(request: pytest.FixtureRequest) -> tuple[str, ...]:
    pair: tuple[str, ...] = request.param
    return pair


def compared(name: str, engines: tuple[str, ...], workers: Workers) -> Alignment:
    scenario = load(NETS / "divergences" / f"{name}.py")
    report = explore(scenario, workers, engines=engines, selection="main", oracle=False)
    (alignment,) = report.alignments
    return alignment


@pytest.mark.whole
def test_fifteen_norms_are_one_mistake_and_what_is_between_them_another(
    workers: Workers, engines: tuple[str, ...]
) -> None:
    alignment = compared("many_norms", engines, workers)
    assert alignment.mended is not None
    first, *others = [
        alignment.cause(0),
        *(one.cause for one in alignment.mended.behind),
    ]
    assert first is not None
    scopes = [places[0].scope for places in first.also_at]
    assert scopes == [f"blocks.{number}.norm" for number in (1, 2, 3, 4, 5)]
    assert [cause and cause.other_op for cause in others] == ["aten.relu.default", ""]
    assert others[1] is not None
    further = [places[0].scope for places in others[1].also_at]
    # The ninth has one eps on both sides.
    assert further == [f"blocks.{number}.norm" for number in (7, 8, 10, 11, 12, 13, 14, 15)]
    assert (alignment.mended.end, alignment.mended.differing) == ("", ())


def test_the_further_places_are_in_the_sentence(workers: Workers, engines: tuple[str, ...]) -> None:
    said = cause_text(compared("five_gelus", engines, workers))
    assert "so it does at 4 more places: `blocks.1.act, five_gelus.py:" in said
    assert "and 1 more" in said
