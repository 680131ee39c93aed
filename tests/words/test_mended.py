"""What is said of two graphs of which one goes on with the other's values."""

import pytest

from explorer.model.mended import End, Mended, NotPutIn, Obstacle
from explorer.text.language import said_in
from explorer.words.divergences import going_on

ENGINES = ("torch-tape", "mindspore-graph")


@pytest.mark.parametrize(
    ("mended", "text"),
    [
        (
            Mended(engine="torch-tape", runs=2, values=1),
            "as if mended: torch-tape goes on with 1 value of mindspore-graph where they differ, and gives"
            " the same results",
        ),
        (
            Mended(engine="mindspore-graph", runs=2, values=3, differing=("dx", "dw")),
            "as if mended: mindspore-graph goes on with 3 values of torch-tape where they differ, and still"
            " differs in dx, dw",
        ),
        (
            Mended(engine="torch-tape", runs=2, change_nothing=True),
            "what differs before anything is mended changes no result: with the values of mindspore-graph"
            " there alone, torch-tape gives the results that it gave without",
        ),
        (Mended(engine="torch-tape", runs=1, differing=tuple("abcdefghi")), "h, … (9 in all)"),
    ],
)
def test_how_far_it_goes_on_is_said_and_the_first_results_that_differ_even_then(
    mended: Mended, text: str
) -> None:
    assert going_on(mended, ENGINES).endswith(text)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("why", ["size", "layout", "no_value", "stopped", "no_place"])
def test_where_nothing_can_be_put_in_the_line_is_named(why: Obstacle, language: str) -> None:
    left_out = NotPutIn(nodes=("n1", None), sources=("net.py:3",), why=why)
    mended = Mended(engine="torch-tape", not_put_in=(left_out,))
    with said_in(language):
        assert "`net.py:3`" in going_on(mended, ENGINES)


@pytest.mark.parametrize("end", ["lost", "raised", "other_graph", "rounds"])
def test_why_it_did_not_go_on_is_said(end: End) -> None:
    plain = going_on(Mended(engine="torch-tape", runs=1), ENGINES)
    assert going_on(Mended(engine="torch-tape", runs=1, end=end), ENGINES).startswith(f"{plain}; ")


def test_two_engines_that_cannot_be_run_so_are_named() -> None:
    text = going_on(Mended(engine="", end="no_engine"), ("mindspore-tape", "mindspore-graph"))
    assert "neither mindspore-tape nor mindspore-graph" in text
