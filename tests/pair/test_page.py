"""Two graphs in a page that stands alone: what is packed in it, and what its browser shows."""

import base64
import gzip
import re
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import expect

from explorer.model.report import Report
from explorer.pair.page import TextTable, two_panes
from explorer.report.scenario import files
from explorer.report.scenario.files import draw_ladder, report_files
from explorer.words.divergences import first_divergence
from tests.support.browsers import Watched, watched
from tests.support.deep_nets import NODES_OF_BLOCK, SPOILED, deep_report, with_arguments
from tests.support.hostile_labels import TOGETHER
from tests.support.labelled_report import labelled_report

pytestmark = pytest.mark.slow

SOURCE = "import x\n\ndef net(x, w):\n    # a block\n    product = x @ w\n    y\n    z\n"

PACKED = re.compile(r'<script type="application/gzip">([^<]*)</script>')


def page_of(report: Report, *code: Path) -> str:
    return two_panes(report.graphs, report.alignments, code, "<b>still</b>")


@cache
def plain_page() -> str:
    """The page of a net of two blocks."""
    return page_of(deep_report(2))


def packed(page: str) -> Any:
    (text,) = PACKED.findall(page)
    return msgspec.json.decode(gzip.decompress(base64.b64decode(text)))


def test_the_first_two_engines_come_first_and_each_stage_stands_beside_the_one_before() -> None:
    names = [pair["name"] for pair in packed(plain_page())["pairs"]]
    assert names == ["torch-tape · mindspore-graph", "mindspore-graph · opt_a · validate"]


def test_the_same_graphs_give_the_same_page() -> None:
    assert page_of(deep_report(2)) == plain_page()


def test_without_two_graphs_that_are_aligned_the_picture_is_all() -> None:
    report = deep_report(2)
    assert two_panes(report.graphs, (), (), "<b>still</b>") == "<b>still</b>"
    assert two_panes(report.graphs[:1], report.alignments, (), "") == ""


def test_lines_of_the_scenario_are_packed_with_the_nodes(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SOURCE)
    with_code = packed(page_of(deep_report(2), tmp_path))["sources"]["net.py:5"]
    assert [5, "    product = x @ w"] in with_code["lines"]
    assert packed(plain_page())["sources"]["net.py:5"]["lines"] == []


def test_a_label_ends_no_script() -> None:
    page = page_of(labelled_report(TOGETHER))
    assert page.count("<script") == page.count("</script>") == 2
    assert "harmed" not in page


def test_a_text_that_is_said_again_is_told_by_its_place() -> None:
    table = TextTable()
    assert table.runs(["a", "b", "c"]) == [(0, 3)]
    assert table.runs(["a", "b", "d", "c", "b"]) == [(0, 2), (3, 1), (2, 1), (1, 1)]
    assert table.texts == ["a", "b", "c", "d"]


def test_a_report_on_a_net_of_five_hundred_nodes_stays_below_three_megabytes() -> None:
    report = deep_report(500 // NODES_OF_BLOCK + 1)
    assert all(len(graph.nodes) > 450 for graph in report.graphs[::2])
    ((_, make),) = report_files(report, ("html",), draw_ladder)
    assert len(make()) < 3_000_000


def whole_page(report: Report) -> str:
    ((_, make),) = report_files(report, ("html",), draw_ladder)
    return make().decode()


def test_where_the_first_two_graphs_part_is_said_above_them() -> None:
    report = deep_report(2, SPOILED)
    (alignment,) = report.alignments
    assert alignment.divergence
    page = whole_page(report)
    sentence = escape(f"A: {first_divergence(alignment)}")
    # What the sentence has between backticks is code.
    marked = re.sub("`([^`]+)`", r"<code>\1</code>", sentence)
    assert marked != sentence
    named = page.index("torch-tape · mindspore-graph, first divergence: A")
    assert page.index(marked) < named < page.index('class="explorer-panes"')


def test_large_pictures_are_in_the_view_of_two_graphs_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = deep_report(2)
    assert "3 gradient graphs" in whole_page(report)
    monkeypatch.setattr(files, "PICTURES_CHARACTERS", 1000)
    page = whole_page(report)
    assert "gradient graphs" not in page
    assert len(packed(page)["pairs"]) == 2


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, chromium: str) -> Iterator[Watched]:
    """A browser on the report in one file on a net whose first product is wrong on the right."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "net.py").write_text(SOURCE)
    report = with_arguments(deep_report(2, SPOILED))
    ((_, make),) = report_files(report, ("html",), draw_ladder, (folder,))
    file = folder / "report.html"
    file.write_bytes(make())
    with watched(chromium, file.as_uri()) as opened:
        opened.page.goto(file.as_uri())
        yield opened


@pytest.fixture
def page(browser: Watched) -> Watched:
    """The page as it is when it is opened, on a screen."""
    browser.page.emulate_media(media="screen")
    browser.page.set_viewport_size({"width": 1400, "height": 1000})
    browser.page.reload()
    return browser


@pytest.mark.browser
def test_a_report_in_one_file_has_the_graphs_of_the_app(page: Watched) -> None:
    product = page.page.locator('.pane[data-side=left] .pick[data-op="aten.mm"]').first
    product.click()
    panel = page.page.locator(".panel")
    expect(panel).to_contain_text("product = x @ w")
    expect(panel.locator("[data-card=right]")).to_contain_text("MatMul")
    page.page.get_by_role("button", name="First divergence").click()
    expect(panel.locator(".difference")).to_contain_text("Greatest difference")
    expect(page.page.locator(".sign")).to_have_count(0)
    page.page.get_by_role("combobox", name="Which two engines").select_option(index=1)
    expect(page.page.locator(".panes figcaption").first).to_contain_text("opt_a")
    page.page.get_by_role("combobox", name="Which nodes to show").select_option("new")
    expect(page.page.locator(".found")).to_contain_text("4 ")
    page.assert_unharmed()


@pytest.mark.browser
def test_the_panel_marks_the_arguments_whose_values_differ(page: Watched) -> None:
    page.page.locator('.pane[data-side=left] .pick[data-op="aten.mm"]').first.click()
    for side, layer, eps in (("left", "nn.Linear", "1e-05"), ("right", "nn.Dense", "0.001")):
        card = page.page.locator(f".panel [data-card={side}]")
        expect(card.locator("dd").first).to_contain_text(f"eps={eps}")
        expect(card.locator(".layer")).to_have_text(layer)
        # Of the op and of its layer; what is the same on both sides is not marked.
        expect(card.locator(".other")).to_have_text([f"≠\u00a0eps={eps}"] * 2)
        expect(card.locator("code:not(.other)", has_text="(2, 2)")).to_have_text("stride=(2, 2)")


FOUND = {"dim=(0,1)": 12, "EPS = 1e-05": 10, "nn.Dense": 10, "pad=-inf": 20, "no_such_argument": 0}
"""Three products of each of two blocks on either side, and two more ops in each one's layer."""


@pytest.mark.browser
def test_a_search_finds_arguments_their_values_and_layers(page: Watched) -> None:
    for words, count in FOUND.items():
        page.page.get_by_role("searchbox", name="Find nodes").fill(words)
        expect(page.page.locator(".found")).to_have_text(f"{count} found")


@pytest.mark.browser
def test_it_prints_still_pictures_and_shows_them_where_no_script_runs(page: Watched) -> None:
    panes, still = page.page.locator(".panes"), page.page.locator(".gradient-figure svg").first
    expect(panes).to_be_visible()
    expect(still).to_be_hidden()
    page.page.emulate_media(media="print")
    expect(panes).to_be_hidden()
    expect(still).to_be_visible()
    context = page.page.context.browser.new_context(java_script_enabled=False)
    without = context.new_page()
    without.goto(page.page.url)
    expect(without.locator(".gradient-figure").first.locator("svg")).to_have_count(2)
    expect(without.locator(".gradient-figure svg").first).to_be_visible()
    context.close()


@pytest.mark.whole
@pytest.mark.browser
def test_on_a_phone_verdict_divergence_and_a_ladder_stand_on_the_first_screen(
    page: Watched,
) -> None:
    shown = page.page
    shown.set_viewport_size({"width": 390, "height": 844})
    shown.reload()
    expect(shown.locator(".pane svg").first).to_be_visible()
    for part in (".summary", "li:has-text('First divergence')"):
        box = shown.locator(part).first.bounding_box()
        assert box["y"] + box["height"] < 844
    pane = shown.locator(".pane[data-side=left]").bounding_box()
    assert pane["y"] + pane["height"] < 844
    # What was folded away for it is a click away.
    search = shown.locator("input[type=search]")
    expect(search).to_be_hidden()
    button = shown.get_by_role("button", name="Controls")
    button.click()
    expect(search).to_be_visible()
    expect(button).to_have_attribute("aria-expanded", "true")
    button.click()
    expect(search).to_be_hidden()
    shown.set_viewport_size({"width": 1280, "height": 800})
    expect(search).to_be_visible()
    expect(button).to_be_hidden()


@pytest.mark.whole
@pytest.mark.browser
def test_nothing_is_cut_off_on_paper(page: Watched) -> None:
    shown = page.page
    # A4 between the page's own margins, in CSS pixels.
    shown.set_viewport_size({"width": 688, "height": 1016})
    shown.emulate_media(media="print")
    for box in shown.locator(".wide").all():
        assert box.evaluate("e => e.scrollWidth <= e.clientWidth"), box.inner_text()[:80]
    for picture in shown.locator("figure svg:visible").all():
        assert picture.bounding_box()["height"] <= 1016
    pages = shown.pdf(format="A4").count(b"/Type /Page\n")
    assert 1 < pages < 40
