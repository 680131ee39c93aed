"""What the API says of two graphs that do not part: that they agree, or why that is not known."""

from typing import Any

import msgspec
import pytest

from explorer.api.results import Difference
from explorer.documents.contents import _lines
from explorer.model.alignment import Recorded, Unpaired
from explorer.model.cases import GradCase
from explorer.model.graph import Absence
from tests.support.explained import explained, known
from tests.support.sample_report import DIVERGENCE, alignment, case_report, graph, report

ENGINES = ("torch-tape", "mindspore-graph")
WRONG = Unpaired(side="right", node="n2", reason="refuted", why=Recorded(Absence("random")))


def difference(wrong: str = "", **changes: Any) -> Difference:
    """Two engines of which one may give a wrong answer, and what else their alignment says."""
    aligned = msgspec.structs.replace(alignment(*ENGINES), **changes)
    case = case_report(GradCase("grad", 0), wrong=wrong, factor=2.0)
    graphs = tuple(map(graph, ENGINES))
    whole = report()
    return Difference(
        msgspec.structs.replace(whole, cases=(case,), graphs=graphs, alignments=(aligned,)), aligned
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


def test_a_difference_gives_each_cause_with_its_ends_and_how_it_is_known() -> None:
    parted = explained(alignment(*ENGINES, DIVERGENCE))
    (cause,) = Difference(report(), parted).causes
    assert cause
    assert (cause.kind, cause.proven, cause.engine) == ("arguments", "computed_again", "torch-tape")
    assert (cause.own, cause.arguments) == ({"eps": 1e-5}, {"eps": 1e-2})
    assert [end.source for end in cause.ends] == ["net.py:3", "net.py:3"]
    assert [mend.side for mend in cause.mends] == ["left", "right"]
    assert cause.code == ("nn.BatchNorm2d(eps=0.01)", "nn.BatchNorm2d(eps=1e-05)")
    assert (cause.greatest, cause.noise) == (4e-7, 6e-7)
    assert str(cause) in Difference(report(), parted).explain()
    assert repr(cause) == f"<Cause: {cause}>"


def test_a_difference_names_what_is_known_of_each_divergence() -> None:
    found = Difference(report(), known(alignment(*ENGINES, DIVERGENCE)))
    ((claim, surprise),) = found.known
    assert (claim.kind, claim.name) == ("claim", "43")
    assert claim.title == "Batch norm's momentum in PyTorch is 1 minus the momentum in MindSpore"
    assert (surprise.kind, surprise.name) == ("surprise", "selu")
    assert str(surprise) in found.explain()
    assert repr(claim) == f"<Known: {claim}>"
    assert Difference(report(), alignment(*ENGINES, DIVERGENCE)).known == ((),)


def test_a_difference_without_a_cause_says_what_was_tried() -> None:
    parted = explained(alignment(*ENGINES, DIVERGENCE), has_cause=False)
    found = Difference(report(), parted)
    assert found.causes == (None,)
    (made,) = found.attempts
    assert made
    assert made.tried == 61
    plain = Difference(report(), alignment(*ENGINES, DIVERGENCE))
    assert (plain.causes, plain.attempts) == ((None,), (None,))
    assert Difference(report(), alignment(*ENGINES)).causes == ()


@pytest.mark.parametrize("wrong", ["", *ENGINES])
def test_a_document_says_of_two_engines_what_the_shell_says(wrong: str) -> None:
    found = difference(wrong)
    told = str(found).split("\n")
    # What a document has in bold above them is not repeated.
    assert list(_lines(found)) == [line for line in told if line != found.explain()]
