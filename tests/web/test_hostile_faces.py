"""Labels are text in every file that the app offers: pages, Markdown, pictures."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from explorer import drawing
from explorer.report.scenario.export import snippets
from explorer.web.export_page import report_bytes
from tests.support.hostile_labels import LABELS, LONGEST, TOGETHER, laid_bare
from tests.support.labelled_report import labelled_report

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"


class Page(HTMLParser):
    """The attributes of an HTML page, and what stands in elements that are not shown."""

    def __init__(self) -> None:
        super().__init__()
        self.attributes: list[tuple[str, str]] = []
        self.tags: list[str] = []
        self.hidden = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.extend((name, value or "") for name, value in attrs)

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] in ("script", "style"):
            self.hidden += data


def test_a_label_is_text_in_the_report_as_one_page() -> None:
    page = Page()
    page.feed(report_bytes(labelled_report(TOGETHER), "html", "en").decode())
    page.close()
    assert "img" not in page.tags
    for name, value in page.attributes:
        assert not name.startswith("on")
        if name in ("href", "src", "action", "formaction", "xlink:href"):
            assert value.startswith(("#", "data:image/")), value
    assert "harmed" not in page.hidden


def test_a_label_is_text_in_the_report_in_markdown() -> None:
    bare = laid_bare(report_bytes(labelled_report(TOGETHER), "markdown", "en").decode())
    for name in ("tag", "script", "link", "picture"):
        assert not re.search(LABELS[name].trap, bare), name
    assert "\x00" not in bare
    assert "\u202e" not in bare


@pytest.mark.parametrize("label", [TOGETHER, LONGEST], ids=["together", "long"])
def test_a_label_is_text_in_a_picture(label: str) -> None:
    for graph in labelled_report(label).graphs:
        picture = ElementTree.fromstring(drawing.draw(graph, format="svg"))
        tags = {element.tag.removeprefix(SVG) for element in picture.iter()}
        assert not tags & {"script", "image", "foreignObject", "a", "use"}
        for element in picture.iter():
            assert not [name for name in element.attrib if name.startswith("on") or "href" in name]
        if label is LONGEST:
            # What is written in the picture is cut; a title, which is no part of it, may be whole.
            shown = [text for part in picture.iter(f"{SVG}text") for text in part.itertext()]
            assert 0 < max(map(len, shown)) < 200


@pytest.mark.parametrize("file_format", ["dot", "mermaid"])
def test_a_label_ends_no_name_in_other_formats_of_pictures(file_format: str) -> None:
    for graph in labelled_report(TOGETHER).graphs:
        text = drawing.draw(graph, format=file_format).decode()  # type: ignore[arg-type]
        if file_format == "dot":
            assert not re.search(r"=\s*<", text)  # in quotes nothing is HTML
        else:
            assert "<img" not in text
        assert "\x00" not in text
        assert "\u202e" not in text


def test_a_title_is_text_in_the_snippets_for_documents() -> None:
    for kind, text in snippets("net.svg", TOGETHER.replace("\n", " ")).items():
        if kind != "Sphinx":  # reStructuredText has neither tags nor such links
            assert not re.search(LABELS["tag"].trap, laid_bare(text))
            assert laid_bare(text).count("](") == 1
