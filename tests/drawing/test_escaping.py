"""What a scenario or a framework says is data in every format, however it is spelt."""

import msgspec
import pytest

from explorer.drawing import draw
from explorer.drawing.label_text import printable
from explorer.model.graph import GradGraph
from tests.support.handmade_graph import HandmadeGraph
from tests.support.svg_pictures import read_svg

HOSTILE = "<script>alert('x')</script> & \" ]]> \x00\x07\ud800\uffff\u202e {x} javascript:"

ACTIVE = {"script", "a", "image", "foreignObject", "use"}
"""Elements of SVG that run, link to or show something else."""


@pytest.fixture(scope="module")
def hostile() -> GradGraph:
    """A graph whose every text is hostile."""
    g = HandmadeGraph()
    x = g.leaf(HOSTILE, "input")
    y = g.add(HOSTILE, [x], scope=HOSTILE)
    g.gradient(HOSTILE, g.back(HOSTILE, y, [], [y], scope=HOSTILE))
    return msgspec.structs.replace(g.record(HOSTILE), engine=HOSTILE, stage=HOSTILE)


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


@pytest.mark.slow
def test_an_svg_shows_hostile_names_as_they_are(hostile: GradGraph) -> None:
    root = read_svg(draw(hostile, format="svg"))
    assert "<script>alert('x')</script>" in "".join(root.itertext())


def test_mermaid_reads_no_name_as_html(hostile: GradGraph) -> None:
    assert b"<script" not in draw(hostile, format="mermaid")


def test_dot_reads_no_name_as_a_record(hostile: GradGraph) -> None:
    assert rb"\<" not in draw(hostile, format="dot")


@pytest.mark.slow
def test_a_png_is_made_of_hostile_names(hostile: GradGraph) -> None:
    assert draw(hostile, format="png").startswith(b"\x89PNG")


def test_dot_takes_no_label_for_html_and_no_name_for_a_port() -> None:
    g = HandmadeGraph()
    g.add("<b>bold</b>", [g.leaf("Default/fc:bias")])
    text = draw(g.record(), format="dot").decode()
    assert '"<b>bold</b>' in text
    assert "label=<" not in text
    assert "n0 -> n1" in text


@pytest.mark.parametrize(
    "character",
    [
        "\x00",
        "\x1f",
        "\x7f",
        "\x9f",
        "\u2028",
        "\u202e",
        "\u2069",
        "\ud800",
        "\uffff",
        "\U0001fffe",
    ],
)
def test_what_xml_forbids_or_what_turns_a_line_is_made_visible(character: str) -> None:
    assert printable(f"a{character}b") == "a�b"


@pytest.mark.parametrize(
    "character", [" ", "~", "\xa0", "é", "漢", "\u2027", "\ufffd", "\U0001f600"]
)
def test_other_characters_stay(character: str) -> None:
    assert printable(character) == character
