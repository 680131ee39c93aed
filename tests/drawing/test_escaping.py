"""What a scenario or a framework says is data in every format, however it is spelt."""

import msgspec
import pytest

from explorer.drawing import draw
from explorer.drawing.formats import FormatName
from explorer.drawing.label_text import printable
from explorer.model.graph import GradGraph
from tests.support.handmade_graph import HandmadeGraph
from tests.support.labelled_report import labelled_report
from tests.support.svg_pictures import read_svg

HOSTILE = "<script>alert('x')</script> & \" ]]> \x00\x07\ud800\uffff\u202e {x} javascript:"

ACTIVE = {"script", "a", "image", "foreignObject", "use"}
"""Elements of SVG that run, link to or show something else."""


@pytest.fixture(scope="module")
def hostile() -> GradGraph:
    """A graph whose every text is hostile."""
    graph = labelled_report(HOSTILE.replace("\ud800", "")).graphs[0]
    nodes = [msgspec.structs.replace(node, op=HOSTILE, name=HOSTILE) for node in graph.nodes]
    return msgspec.structs.replace(
        graph, nodes=tuple(nodes), engine=HOSTILE, case=HOSTILE, stage=HOSTILE
    )


@pytest.mark.slow
def test_an_svg_holds_nothing_active(hostile: GradGraph) -> None:
    svg = draw(hostile, format="svg", numbers={"n0": 1})
    root = read_svg(svg)
    for element in root.iter():
        assert element.tag.rpartition("}")[2] not in ACTIVE
        for name in element.attrib:
            assert not name.startswith("on")
            assert not name.endswith("href")
    assert b"http" not in svg.replace(b'xmlns="http://www.w3.org/2000/svg"', b"")
    # As a text a name is shown as it is.
    assert "<script>alert('x')</script>" in "".join(root.itertext())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file_format", "harm"), [("mermaid", b"<script"), ("dot", rb"\<"), ("png", b"script")]
)
def test_no_other_format_reads_a_name_as_markup(
    file_format: FormatName, harm: bytes, hostile: GradGraph
) -> None:
    drawn = draw(hostile, format=file_format)
    assert drawn
    assert harm not in drawn
    assert b"\x00\x07" not in drawn or file_format == "png"
    assert "\u202e".encode() not in drawn


def test_dot_takes_no_label_for_html_and_no_name_for_a_port() -> None:
    g = HandmadeGraph()
    g.add("<b>bold</b>", [g.leaf("Default/fc:bias")])
    text = draw(g.record(), format="dot").decode()
    assert '"<b>bold</b>' in text
    assert "label=<" not in text
    assert "n0 -> n1" in text


def test_what_xml_forbids_or_what_turns_a_line_is_made_visible_and_other_characters_stay() -> None:
    for character in "\x00\x1f\x7f\x9f\u2028\u202e\u2069\ud800\uffff\U0001fffe":
        assert printable(f"a{character}b") == "a�b", ascii(character)
    for character in " ~\xa0é漢\u2027\ufffd\U0001f600":
        assert printable(character) == character, ascii(character)
