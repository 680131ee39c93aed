"""A scenario's card: its point in a line, the counts of its verdicts, and a small ladder; stored."""

from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from explorer.compare.results.verdicts import judge
from explorer.drawing.views import thumbnail
from explorer.exploration.options import Wanted
from explorer.exploration.stored import key
from explorer.model.cases import GradCase
from explorer.model.findings import LoneStart, ReportFinding
from explorer.model.results import OracleResult, Outcome, Result
from explorer.report.scenario.card import (
    LONGEST_POINT,
    card,
    card_of,
    pair_of_ladders,
    point,
    stored_card,
    stored_pair,
)
from explorer.scenario.load import load
from explorer.store.store import Store
from explorer.text.language import said_in
from tests.support.nets import NETS
from tests.support.sample_report import DIVERGENCE, HOSTILE, alignment, answer, graph, report
from tests.support.scenario_files import MINIMAL, written
from tests.support.svg_pictures import SVG


@pytest.mark.parametrize(
    ("notes", "line"),
    [
        ("One. Two.", "One."),
        ("The loss is 2.5 of `x`. Then more.", "The loss is 2.5 of x."),
        ("A *tape*\nrecords:\n\nno more", "A tape records:"),
        ("一，二。三。", "一，二。"),
        ("", ""),
    ],
)
def test_a_scenario_s_point_is_its_first_sentence(notes: str, line: str, tmp_path: Path) -> None:
    file = written(tmp_path, f'"""Title.\n\n{notes}\n"""\n{MINIMAL}')
    assert point(load(file)) == line


def test_a_long_point_is_cut_between_words_and_in_chinese_between_clauses(tmp_path: Path) -> None:
    line = point(load(written(tmp_path, f'"""Title.\n\n{"word " * 60}\n"""\n{MINIMAL}')))
    assert line.endswith("word …")
    assert len(line) <= LONGEST_POINT + 2
    clause = "四字的话，"
    file = written(tmp_path, f'"""Title.\n\n{clause * 30}\n"""\n{MINIMAL}', "chinese.py")
    # Each character is as wide as two of the Latin ones that LONGEST_POINT counts.
    count = LONGEST_POINT // (2 * len(clause))
    assert point(load(file)) == (clause * count).removesuffix("，") + " …"


@pytest.mark.slow
def test_a_card_counts_what_differs_and_what_is_unexpected() -> None:
    whole = report(unexpected=True, foreseen=True)
    made = card_of(whole)
    verdicts = [case.verdict for case in whole.cases]
    assert made.cases == len(verdicts)
    assert made.different == verdicts.count("differs") + verdicts.count("some_raise") > 0
    assert made.unexpected == sum(not case.expected for case in whole.cases) > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("outcome", "factor", "is_different"),
    [("ok", 1.0, False), ("ok", 2.0, True), ("raised", 1.0, True), ("unsupported", 1.0, False)],
)
def test_a_case_is_different_where_engines_that_answer_do_not_answer_alike(
    outcome: Outcome, factor: float, is_different: bool
) -> None:
    case = GradCase("grad", 0)
    one = answer(case)
    other = answer(case, factor) if outcome == "ok" else Result(outcome=outcome)
    results = {"mindspore-tape": one, "torch-tape": one, "torch-graph": other}
    judged = judge(case, results, OracleResult("not_defined"))
    made = card_of(msgspec.structs.replace(report(), cases=(judged,)))
    assert (made.cases, made.different) == (1, is_different)


@pytest.mark.slow
def test_whatever_makes_a_report_unexpected_is_counted_on_its_card() -> None:
    good = msgspec.structs.replace(report(), findings=(), alignments=(), cases=())
    (case, *_) = [case for case in report(unexpected=True).cases if not case.expected]
    parted = alignment("torch-tape", "mindspore-graph", DIVERGENCE)
    parted = msgspec.structs.replace(parted, expected=False)
    alarm = ReportFinding(fact=LoneStart("w", "torch"))
    assert card_of(good).unexpected == 0
    for part in ({"cases": (case,)}, {"alignments": (parted,)}, {"findings": (alarm,)}):
        whole = msgspec.structs.replace(good, **part)
        assert not whole.is_as_expected
        assert card_of(whole).unexpected == 1


@pytest.mark.slow
def test_a_thumbnail_has_a_box_for_each_node_and_no_words() -> None:
    small = graph("torch-tape")
    tree = ElementTree.fromstring(thumbnail(small, 'a "label"'))
    assert len(tree.findall(f"{SVG}rect")) == len(small.nodes)
    assert len(tree.findall(f"{SVG}path")) >= len(small.nodes) - 1
    assert tree.get("aria-label") == 'a "label"'
    assert not tree.findall(f".//{SVG}text")
    assert "<script" not in thumbnail(small, HOSTILE)


@pytest.mark.slow
def test_a_card_is_made_once_of_a_stored_report(tmp_path: Path) -> None:
    scenario, store = load(NETS / "square.py"), Store(tmp_path)
    assert card(scenario, store) is None
    assert pair_of_ladders(scenario, store) == ""
    whole = msgspec.structs.replace(report(), scenario=scenario.name)
    store.put(key(scenario, Wanted()), whole)
    assert stored_card(scenario, store) is None  # looking draws nothing
    made = card(scenario, store)
    assert made is not None
    assert stored_card(scenario, store) == made
    assert stored_pair(scenario, store) == ""
    both = pair_of_ladders(scenario, store)
    assert stored_pair(scenario, store) == both
    assert both.index("torch-tape") < both.index("mindspore-graph")
    # The drawing is stored in each language.
    with said_in("zh"):
        assert stored_pair(scenario, store) == ""
        chinese = pair_of_ladders(scenario, store)
        assert stored_pair(scenario, store) == chinese
    assert "前向算子" in chinese
    assert "前向算子" not in both
    assert stored_pair(scenario, store) == both
