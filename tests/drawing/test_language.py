"""Drawings in 中文: no English text but names of code, and nothing outside of its box."""

import re
import xml.etree.ElementTree as ElementTree
from itertools import product

import pytest

from explorer.drawing import Depth, draw, show
from explorer.drawing.cards import cards
from explorer.drawing.formats import dot, mermaid
from explorer.drawing.label_text import measure
from explorer.drawing.marks import marks
from explorer.drawing.style import LEAST_BOX_WIDTH, PAD, SMALL_SIZE, TITLE_SIZE
from explorer.model.graph import GradGraph
from explorer.text.language import said_in
from explorer.words.graphs import why_missing
from tests.support.drawing_graphs import bottlenecks, branches, convolution, dense_mse, unrolled

GRAPHS = {
    "dense": dense_mse(),
    "convolution": convolution(),
    "branches": branches(),
    "bottlenecks": bottlenecks(6),
    "unrolled": unrolled(4),
}

DEPTHS: tuple[Depth, ...] = ("all", 1, 0)

ENGLISH_WORDS = re.compile(r"[A-Za-z]{2,}")

SIGNS = {
    "all",
    "tape",
    "torch",
    "grad",
    "net",
    "grad_position",
    "weights",
    "None",
    "seed",
    "Graphviz",
}
"""Names of engines, stages and calls, of a depth, and of a program, in titles and counts."""


def chinese(graph: GradGraph, depth: Depth) -> ElementTree.Element:
    with said_in("zh"):
        return ElementTree.fromstring(draw(graph, format="svg", depth=depth))


def names_in(graph: GradGraph) -> set[str]:
    """Whatever a graph calls something by a word, in parts."""
    texts: list[str] = [graph.engine, graph.case, graph.stage]
    for node in graph.nodes:
        texts += [node.id, node.op, node.name, node.scope, node.body, *node.source]
        texts += [
            *map(why_missing, node.missing.values()),
            *(output.dtype for output in node.outputs),
        ]
    return SIGNS.union(*map(ENGLISH_WORDS.findall, texts))


def english_in(texts: list[str], graph: GradGraph) -> list[str]:
    """The texts in which a word is not one of the graph's own."""
    names = names_in(graph)
    english = []
    for text in texts:
        whole_words = re.sub(r"[\w.]*…[\w.]*", "", text)  # a name may be cut
        if not names.issuperset(ENGLISH_WORDS.findall(whole_words)):
            english.append(text)
    return english


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "depth"),
    [
        ("convolution", "all"),
        ("branches", 0),
        *(
            pytest.param(*pair, marks=pytest.mark.whole)
            for pair in product(GRAPHS, DEPTHS)
            if pair not in {("convolution", "all"), ("branches", 0)}
        ),
    ],
)
def test_every_text_of_a_drawing_is_chinese_but_for_names(name: str, depth: Depth) -> None:
    picture = chinese(GRAPHS[name], depth)
    texts = [part.text or "" for part in picture.iter() if not part.tag.endswith("style")]
    lines = [line for text in texts for line in text.splitlines()]
    assert any("前向" in line for line in lines)
    assert english_in(lines, GRAPHS[name]) == []


@pytest.mark.slow
def test_a_drawing_names_its_language_and_fonts_and_an_english_text_is_found() -> None:
    picture = chinese(GRAPHS["dense"], "all")
    assert picture.get("lang") == "zh"
    style = next(part for part in picture.iter() if part.tag.endswith("style"))
    assert "Noto Sans CJK SC" in (style.text or "")
    english = draw(GRAPHS["dense"], format="svg")
    assert b"Noto Sans CJK" not in english
    texts = list(ElementTree.fromstring(english).itertext())
    assert "value kept for backward" in english_in(texts, GRAPHS["dense"])


@pytest.mark.parametrize("depth", DEPTHS)
def test_chinese_texts_fit_into_their_boxes(depth: Depth) -> None:
    for graph in GRAPHS.values():
        shown = show(graph, depth)
        with said_in("zh"):
            made = cards(shown.graph, marks(shown, {}))
        for card in made.values():
            size = SMALL_SIZE if card.role == "quiet" else TITLE_SIZE
            first = measure(card.title, size) + measure(card.shape, SMALL_SIZE)
            widest = max(first, *(measure(text, SMALL_SIZE) for text in (card.value, card.moves)))
            assert widest + 2 * PAD <= max(card.width, LEAST_BOX_WIDTH)


def test_a_chinese_sign_is_one_em_wide() -> None:
    assert measure("前向", 10) == 20


@pytest.mark.slow
def test_other_formats_name_the_phases_in_the_language_and_png_and_json_are_english() -> None:
    shown = show(GRAPHS["dense"], "all")
    said = marks(shown, {})
    with said_in("zh"):
        assert re.search('label="?前向', dot(shown.graph, said, "").decode())
        assert 'subgraph forward["前向"]' in mermaid(shown.graph, said).decode()
        chinese_image = draw(GRAPHS["dense"], format="png")
        record = draw(GRAPHS["dense"], format="json", depth=0)
    assert chinese_image == draw(GRAPHS["dense"], format="png")
    assert record == draw(GRAPHS["dense"], format="json", depth=0)
    assert "subgraph forward\n" in mermaid(shown.graph, said).decode()
