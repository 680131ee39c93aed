"""The first page: what this is, the board in a bar, and cards that a search picks from."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from streamlit.testing.v1 import AppTest

from explorer.report.scenario.card import ScenarioCard
from explorer.topics import STUDIES
from explorer.web import ENTRY
from explorer.web.home_page import SHADES, _bar, _two_by_two, _verdict
from explorer.web.offered_scenarios import VARIABLE
from tests.support.pages import SECONDS
from tests.support.scenario_files import MINIMAL, written


def home(**query: str) -> AppTest:
    page = AppTest.from_file(str(ENTRY), default_timeout=SECONDS)
    for name, value in query.items():
        page.query_params[name] = value
    return page.run()


def cards(page: AppTest) -> list[dict[str, Any]]:
    """All cards on a page, as its components get them."""
    grids = [json.loads(grid.proto.json) for grid in page.get("bidi_component")]
    return [card for grid in grids for card in grid["cards"]]


def test_the_engines_stand_in_a_table_of_frameworks_by_styles() -> None:
    table = ElementTree.fromstring(_two_by_two())
    rows = [[cell.text for cell in row.iter("code")] for row in table.iter("tr")]
    assert rows[1:] == [
        [f"{framework}-tape", f"{framework}-graph"] for framework in ("mindspore", "torch", "jax")
    ]


def test_the_bar_of_claims_is_as_wide_as_its_counts() -> None:
    bar = ElementTree.fromstring(_bar({"holds": 40, "outdated": 9, None: 1}))
    assert [part.text for part in bar] == ["40", "9", "1"]
    assert [str(part.get("style")).split(";")[0] for part in bar] == [
        "flex: 40",
        "flex: 9",
        "flex: 1",
    ]
    assert bar.get("aria-label") == "40 hold, 9 are outdated, 1 was not run"


@pytest.mark.parametrize(
    ("different", "unexpected", "colour", "count"),
    [(0, 0, "green", "8"), (3, 0, "orange", "3 of 8"), (3, 2, "red", "2"), (0, 1, "red", "1")],
)
def test_a_card_s_badge_tells_the_worst(
    different: int, unexpected: int, colour: str, count: str
) -> None:
    card = ScenarioCard(
        name="net", title="", cases=8, different=different, unexpected=unexpected, ladder=""
    )
    badge = _verdict(card)
    assert badge.colour == SHADES[colour]
    assert count in badge.text


@pytest.mark.slow
def test_a_search_picks_cards_by_name_title_and_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, f'"""A rare title.\n\nWhat a zebra does.\n"""\n{MINIMAL}', "mine.py")
    written(tmp_path, "def inputs(:\n", "broken.py")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    page = home(words="zebra RARE")
    assert not page.exception
    *studies, card = cards(page)
    assert [study["name"] for study in studies] == list(STUDIES)
    hrefs = {study["name"]: study["href"] for study in studies}
    assert hrefs["devices"] == "studies?study=devices&on=dense_mse"
    assert (card["heading"], card["title"]) == ("mine", "A rare title")
    assert card["href"] == "semantics?scenario=mine"
    assert (card["badge"], card["picture"], card["note"]) == (None, "", "not run yet")
    counts = [block.value for block in page.caption if block.value.startswith("1 of the folder")]
    assert len(counts) == 1
    page.text_input(key="words").set_value("zebra nowhere").run()
    assert any("No scenario has these words" in block.value for block in page.caption)
    page.text_input(key="words").set_value("broken syntax").run()
    assert not page.exception
    assert "syntax error" in cards(page)[-1]["title"], "a broken file has a card that says so"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lang", "words", "title"),
    [
        ("en", "转置卷积", "A transposed convolution"),
        pytest.param("zh", "transposed convolution", "转置卷积", marks=pytest.mark.whole),
    ],
)
def test_a_search_finds_a_shipped_scenario_in_every_language(
    lang: str, words: str, title: str
) -> None:
    page = home(words=words, lang=lang)
    assert not page.exception
    (card,) = [card for card in cards(page) if card["name"] == "conv_transpose"]
    assert card["title"] == title
