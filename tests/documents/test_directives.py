"""What a document may ask for, what is refused, and what is read as a fence."""

from pathlib import Path

import pytest

from explorer.api.results import Exploration
from explorer.blocks.records import Span, spans
from explorer.documents.contents import themed
from explorer.documents.directives import KINDS, directive, fences
from explorer.model.errors import UsageError
from tests.support.deep_nets import NODES_OF_BLOCK, deep_report
from tests.support.tables import rows

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    ("kind", "subject", "options", "words"),
    rows(__file__, "test_what_is_no_block_is_refused_with_what_is_allowed"),
)
def test_what_is_no_block_is_refused_with_what_is_allowed(
    kind: str, subject: str, options: dict[str, str], words: list[str]
) -> None:
    with pytest.raises(UsageError) as refused:
        directive(kind, subject, options, HERE)
    for word in words:
        assert word in str(refused.value)


def test_a_scenario_s_file_is_named_from_the_document_s_folder() -> None:
    made = directive("gradient-graph", "sphinx_sample/cubes.py", {"engines": "torch-tape"}, HERE)
    assert Path(made.subject) == HERE / "sphinx_sample" / "cubes.py"
    assert made.engines == ("torch-tape",)
    # Blanks around an option do not count.
    given = {"depth": " 2", "view": "flow ", "width": " 50% "}
    made = directive("gradient-graph", "dense_mse", given, HERE)
    assert made.depth == 2
    assert made.options == {"depth": "2", "view": "flow", "width": "50%"}


def test_every_kind_has_a_block_that_is_accepted() -> None:
    for kind in KINDS:
        subject = "30" if kind == "gradient-claim" else "dense_mse"
        assert directive(kind, subject, {}, HERE).kind == kind


def test_a_theme_is_a_class_of_the_root_alone() -> None:
    svg = '<svg class="left-gradgraph"><style>.left-gradgraph{}</style><g class="gradgraph"/></svg>'
    assert themed(svg, "dark").count("dark") == 1
    assert themed(svg, "dark").startswith('<svg class="left-gradgraph dark">')


def test_code_in_a_sentence_is_told_from_its_text() -> None:
    assert list(spans("of `mul` and `add.x`: 2")) == [
        Span("of "),
        Span("mul", "code"),
        Span(" and "),
        Span("add.x", "code"),
        Span(": 2"),
    ]


def test_fences_are_found_with_their_words_and_lines() -> None:
    text = "one\n\n```gradient-graph  \ndense_mse\n```\n\n~~~ python\nx\n~~~\nend\n"
    first, second = fences(text)
    assert (first.info, first.content, first.line) == ("gradient-graph", "dense_mse\n", 3)
    assert (second.info, second.content, second.line) == ("python", "x\n", 7)
    assert text[first.start : first.end].endswith("```")
    assert text[: first.start] == "one\n\n"


def test_a_fence_inside_a_longer_one_is_its_content() -> None:
    text = "````text\n```gradient-graph\nx\n```\n````\n```a\n```b\n```\n"
    outer, last = fences(text)
    assert outer.content == "```gradient-graph\nx\n```\n"
    # A fence with words opens and does not close.
    assert last.content == "```b\n"


def test_a_fence_is_closed_by_one_that_is_no_shorter() -> None:
    for end in ("```", "````", "`````  "):
        (found,) = fences(f"```gradient-graph\nx\n{end}\n")
        assert (found.info, found.content) == ("gradient-graph", "x\n")
    # A shorter one, or one of another kind, does not close it.
    for end in ("``", "~~~", "~~~~", ""):
        assert fences(f"```gradient-graph\nx\n{end}\n") == []


@pytest.mark.slow
def test_a_net_of_a_thousand_nodes_collapses_itself_in_a_document_and_says_so() -> None:
    report = deep_report(1000 // NODES_OF_BLOCK + 1)
    picture = Exploration(report).graph("torch-tape", "mindspore-graph")
    for file, graph in zip(picture.each(), picture.graphs, strict=True):
        svg = file.decode()
        assert len(graph.nodes) > 1000
        assert svg.count('class="node') < 150
        assert f"of {len(graph.nodes)} nodes" in svg
        assert "collapsed" in svg
