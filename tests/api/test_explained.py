"""What the API says of two graphs that do not part: that they agree, or why that is not known."""

from typing import Any

import msgspec
import pytest

from explorer.api.results import Difference
from explorer.documents.contents import _lines
from explorer.model.cases import GradCase
from explorer.model.graph import Absence
from explorer.model.unpaired import Recorded, Unpaired
from tests.support.sample_report import alignment, case_report, graph, report

ENGINES = ("torch-tape", "mindspore-graph")
WRONG = Unpaired(side="right", node="n2", reason="refuted", why=Recorded(Absence("random")))


def difference(wrong: str = "", **changes: Any) -> Difference:
    """Two engines of which one may give a wrong answer, and what else their alignment says."""
    aligned = msgspec.structs.replace(alignment(*ENGINES), **changes)
    case = case_report(GradCase("grad", 0), wrong=wrong, factor=2.0)
    graphs = tuple(map(graph, ENGINES))
    whole = report()
    return Difference(
        msgspec.structs.replace(whole, cases=(case,), graphs=graphs, alignments=(aligned,)),
        aligned,
    )


@pytest.mark.parametrize("wrong", ["", "torch-graph"])
def test_two_engines_agree_whatever_a_third_one_answers(wrong: str) -> None:
    found = difference(wrong)
    assert found.is_same
    assert "torch-tape and mindspore-graph agree: every result is the same" in found.explain()
    assert "although the results of the calls differ" not in str(found)


@pytest.mark.parametrize("wrong", ENGINES)
def test_graphs_that_do_not_part_are_not_the_same_where_the_calls_differ(wrong: str) -> None:
    found = difference(wrong)
    assert not found.is_same
    assert found.explain().endswith("although the results of the calls differ")
    assert found.explain() in str(found)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"drawn": ("dx",)}, "not compared by value"),
        ({"altered": ("torch-tape",)}, "recording changed the results of torch-tape"),
        ({"unpaired": (WRONG,)}, "the value of 1 op was misread"),
    ],
)
def test_what_was_not_compared_is_not_said_to_be_the_same(
    changes: dict[str, Any], said: str
) -> None:
    found = difference(**changes)
    assert not found.is_same
    assert said in found.explain()
    assert "every result is the same" not in found.explain()
    assert said in repr(found)


@pytest.mark.parametrize("wrong", ["", *ENGINES])
def test_a_document_says_of_two_engines_what_the_shell_says(wrong: str) -> None:
    found = difference(wrong)
    told = str(found).split("\n")
    # What a document has in bold above them is not repeated.
    assert list(_lines(found)) == [line for line in told if line != found.explain()]
