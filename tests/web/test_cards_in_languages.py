"""Cards of scenarios are kept for each language: no reader gets those of another one."""

import pytest

from explorer.scenario.find import names
from explorer.text.language import LANGUAGES, said_in
from explorer.web.cards import introduction, scenario_card
from explorer.web.offered_scenarios import FIRST


@pytest.mark.parametrize("first", LANGUAGES)
def test_a_card_is_in_the_language_of_its_reader(first: str) -> None:
    path = names()[FIRST]
    cards = {}
    for language in (first, *LANGUAGES):
        with said_in(language):
            cards[language] = scenario_card(path)
    texts = {(card.title, card.line) for card in cards.values()}
    assert len(texts) == len(LANGUAGES)
    # A search finds the title whatever the language of the page is.
    assert len({card.searched for card in cards.values()}) == 1
    for card in cards.values():
        assert card.title in card.searched


def test_the_drawing_of_the_introduction_is_in_the_language_of_its_reader() -> None:
    drawings = set()
    for language in LANGUAGES:
        with said_in(language):
            drawings.add(introduction().svg)
    assert len(drawings) == len(LANGUAGES)
