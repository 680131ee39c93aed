"""The cards that say why two graphs differ, above the graphs."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.support import graphs_app
from tests.support.deep_nets import SPOILED
from tests.support.graphs_app import BLOCKS, EXPLAINED, KNOWN, MENDED
from tests.support.graphs_app import SPOILED as WRONG_OP
from tests.support.pages import shown

pytestmark = pytest.mark.slow


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> AppTest:
    monkeypatch.setenv(BLOCKS, "2")
    monkeypatch.setenv(WRONG_OP, SPOILED)
    monkeypatch.setenv(KNOWN, "yes" if "known" in request.param else "")
    explained, _, mended = request.param.removesuffix(", known").partition(", behind it ")
    monkeypatch.setenv(EXPLAINED, explained)
    monkeypatch.setenv(MENDED, mended)
    made: AppTest = shown(graphs_app.page)
    return made


@pytest.mark.parametrize("page", ["yes, known"], indirect=True)
def test_a_card_has_the_cause_its_evidence_code_for_either_net_and_what_is_known(
    page: AppTest,
) -> None:
    (card,) = [card for card in page.expander if card.label.startswith("Why: ")]
    assert "eps=0.01" in card.label
    assert [block.value for block in card.code] == [
        "nn.BatchNorm2d(eps=0.01)",
        "nn.BatchNorm2d(eps=1e-05)",
    ]
    assert any("(greatest difference 4e" in text.value for text in card.markdown)
    captions = [text.value for text in card.caption]
    assert any("61 changes were tried" in text for text in captions)
    assert any(text.startswith("In MindSpore's net, at net") for text in captions)
    claim, surprise = [text for text in captions if text.startswith("Known: ")]
    assert "claim 43: Batch norm's momentum" in claim
    assert "The gradient of SELU is wrong" in surprise


@pytest.mark.parametrize(
    ("page", "heads", "tried"),
    [
        ("", [], ""),
        (", known", ["Known: "], ""),
        ("no", [], "none gives the other side's value"),
        ("yes, behind it no", ["Why: ", "As if those before"], "61 changes were tried"),
    ],
    indirect=["page"],
)
def test_without_a_cause_there_is_no_code_and_one_line_says_what_was_tried(
    page: AppTest, heads: list[str], tried: str
) -> None:
    cards = [card for card in page.expander if card.label.startswith(("Why", "Known", "As if"))]
    assert [card.label.startswith(head) for card, head in zip(cards, heads, strict=True)] == [
        True
    ] * len(heads)
    for card in cards:
        assert bool(card.code) is card.label.startswith("Why: ")
        if card.label.startswith("Known: "):
            assert "Batch norm's momentum" in card.label
        if card.label.startswith("As if those before"):
            assert "without a known cause" in card.label
            (said,) = [text.value for text in card.caption]
            assert said.startswith("As if mended, further divergence in forward: ")
    lines = [text.value for text in page.caption if "tried" in text.value]
    assert len(lines) == (1 if tried else 0)
    assert all(tried in line for line in lines)


@pytest.mark.parametrize("page", ["yes, behind it yes"], indirect=True)
def test_what_is_seen_as_if_mended_has_a_card_of_its_own_behind_the_others(page: AppTest) -> None:
    first, behind = [card for card in page.expander if card.label.startswith("Why")]
    assert (first.proto.expanded, behind.proto.expanded) == (True, False)
    assert behind.label.startswith("Why, as if those before were mended: ")
    assert "eps=0.1" in behind.label
    assert [block.value for block in behind.code] == [
        "nn.BatchNorm2d(eps=0.01)",
        "nn.BatchNorm2d(eps=1e-05)",
    ]
    captions = [text.value for text in behind.caption]
    assert any(
        text.startswith("As if mended, further divergence in forward: ") for text in captions
    )
    assert captions[-1].startswith("In MindSpore's net, at net.py")
    assert captions[-1].endswith("6")


@pytest.mark.parametrize("page", ["no, behind it yes"], indirect=True)
def test_a_line_says_what_was_computed_again_and_where_nothing_could_be_put_in(
    page: AppTest,
) -> None:
    (said,) = [text.value for text in page.caption if text.value.startswith("As if mended: ")]
    assert "goes on with 1 value of" in said
    assert "still differs in dx" in said
    assert "net.py:9" in said
    assert said.endswith(".")
    # The first divergence itself, which nothing explains, keeps its line.
    assert [
        text.value for text in page.caption if "none gives the other side's value" in text.value
    ]
