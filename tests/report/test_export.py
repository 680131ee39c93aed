"""Exports: a picture's file, the command that writes the same, and what sets it in a document."""

import pytest
from markdown_it import MarkdownIt

from explorer import drawing
from explorer.compare.align import align
from explorer.model.graph import GradGraph
from explorer.report.scenario.export import PictureChoice, _told_by, picture_file, snippets
from tests.support.sample_report import ON_THE_LEFT, alignment, graph

LEFT, RIGHT = graph("torch-tape"), graph("mindspore-graph")


def test_a_snippet_s_text_cannot_leave_its_place() -> None:
    hostile = 'x](javascript:alert(1)) <img src=x onerror=alert(1)> *b*\n\n.. raw:: html "q"'
    made = snippets("net.svg", hostile)
    page = MarkdownIt().render(made["Markdown"])
    assert page.count("<img") == 1
    assert "javascript" in page  # as text
    assert 'src="net.svg"' in page
    assert not any(line.startswith(".. raw") for line in made["Sphinx"].splitlines())
    assert made["MkDocs"].startswith("![")


@pytest.mark.slow
@pytest.mark.parametrize("file_format", list(drawing.FORMATS))
def test_one_graph_is_a_file_of_each_format(file_format: drawing.formats.FormatName) -> None:
    choice = PictureChoice(scenario="net", engines=("torch-tape",), file_format=file_format)
    assert picture_file([LEFT], (), choice)
    assert choice.file_name.endswith(drawing.FORMATS[file_format].ending)


@pytest.mark.slow
def test_numbers_of_pairs_do_not_depend_on_the_side_in_the_alignment() -> None:
    choice = PictureChoice(scenario="n", engines=(LEFT.engine, RIGHT.engine), file_format="svg")
    with_numbers = picture_file([LEFT, RIGHT], [align(LEFT, RIGHT)], choice)
    turned = picture_file([LEFT, RIGHT], [align(RIGHT, LEFT)], choice)
    assert with_numbers.count(b"data-pair") == turned.count(b"data-pair") > 0
    assert picture_file([LEFT, RIGHT], (), choice).count(b"data-pair") == 0


@pytest.mark.parametrize("graphs", [(LEFT, RIGHT), (RIGHT, LEFT)])
def test_the_mark_of_a_divergence_is_on_the_engine_that_has_it_whatever_side_it_is_drawn_on(
    graphs: tuple[GradGraph, GradGraph],
) -> None:
    parted = alignment(LEFT.engine, RIGHT.engine, ON_THE_LEFT)
    marked = _told_by((parted,), *graphs)["diverging"]
    found = {graph.engine: list(nodes) for graph, nodes in zip(graphs, marked, strict=True)}
    assert found == {LEFT.engine: ["n2"], RIGHT.engine: []}
