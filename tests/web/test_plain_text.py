"""Foreign text up to a length, and drawings in the theme of the page."""

from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from explorer.web import cards
from explorer.web.widgets import LONGEST, plain


@pytest.mark.parametrize(
    ("length", "end"),
    [(1, ""), (LONGEST - 1, ""), (LONGEST, ""), (LONGEST + 1, " …"), (2 * LONGEST, " …")],
)
def test_a_text_that_is_too_long_is_cut_and_says_so(length: int, end: str) -> None:
    assert plain("a" * length) == "a" * min(length, LONGEST) + end


@pytest.mark.parametrize(("page", "theme"), [("dark", "dark"), ("light", "light"), (None, "light")])
def test_a_drawing_has_the_theme_of_the_page_at_its_root_alone(
    page: str | None, theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = SimpleNamespace(theme=SimpleNamespace(type=page))
    monkeypatch.setattr(cards, "st", SimpleNamespace(context=context))
    svg = '<svg class="gradgraph"><g class="node"><rect class="leaf"/></g></svg>'
    root = ElementTree.fromstring(cards.in_theme(svg))
    classes = [element.get("class", "").split() for element in root.iter()]
    assert classes == [[theme, "gradgraph"], ["node"], ["leaf"]]
