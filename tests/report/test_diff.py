"""Where two graphs part, in lines."""

import msgspec
import pytest

from explorer.model.alignment import Recorded, Seen, Unpaired
from explorer.model.cases import GradCase
from explorer.model.failures import Failure, Loss
from explorer.model.findings import LoneStart, ReportFinding, SameMasks
from explorer.model.graph import Absence, Arguments, Layer, SideName
from explorer.model.report import Ungraphed
from explorer.model.results import Result
from explorer.report.diff import absence_lines, diff_lines, do_differ
from explorer.report.schemas import diff_document
from explorer.words.divergences import divergences, first_divergence
from explorer.words.headlines import headline
from tests.support.explained import explained, known
from tests.support.sample_report import DIVERGENCE, FURTHER, alignment, case_report, graph, report

GRAPHS = graph("torch-tape"), graph("mindspore-graph")
ALIKE = alignment("torch-tape", "mindspore-graph")
PARTED = alignment("torch-tape", "mindspore-graph", DIVERGENCE)


def test_a_divergence_has_a_line_for_each_side_after_their_coverage() -> None:
    case, *coverage, last = diff_lines(ALIKE, *GRAPHS)
    assert case == ALIKE.case
    assert coverage[0].startswith("  torch-tape       forward 1 paired, 0 inside, 0 unpaired; ")
    assert coverage[1].startswith("  mindspore-graph  forward 1 paired, 0 inside, 0 unpaired; ")
    assert "no divergence" in last

    lines = list(diff_lines(PARTED, *GRAPHS))
    assert lines[3] == first_divergence(PARTED)
    assert lines[4] == "  torch-tape       MulBackward (n2)  4  net.py:3"
    assert lines[5] == "  mindspore-graph  MulBackward (n2)  4.004  net.py:3"
    assert "0.004, 4,000 × the noise of 1e-06" in lines[6]
    assert lines[7].endswith(": dx")

    # The ends have the arguments that matter.
    left = GRAPHS[0]
    nodes = list(left.nodes)
    settings: Arguments = {"dtype": None, "approximate": "tanh"}
    nodes[2] = msgspec.structs.replace(nodes[2], arguments=settings)
    left = msgspec.structs.replace(left, nodes=tuple(nodes))
    lines = list(diff_lines(PARTED, left, GRAPHS[1]))
    assert lines[4] == "  torch-tape       MulBackward(approximate='tanh') (n2)  4  net.py:3"
    assert lines[5] == "  mindspore-graph  MulBackward (n2)  4.004  net.py:3"


def test_of_a_worker_that_died_with_its_answers_it_is_said_why_there_is_no_graph() -> None:
    error = Failure("crashed", loss=Loss(kind="died", code=-9))
    whole = report()
    results = {"torch-tape": Result(outcome="crashed", error=error)}
    case = msgspec.structs.replace(whole.cases[0], results=results)
    lost = {"cases": (case,), "graphs": (), "ungraphed": {"torch-tape": Ungraphed(error)}}
    first, _ = absence_lines(msgspec.structs.replace(whole, **lost), ("torch-tape",))
    assert first == "no graph from torch-tape: the worker process died (signal 9)"


def test_what_is_known_comes_behind_the_cause_and_is_in_the_document() -> None:
    parted = known(explained(PARTED))
    lines = list(diff_lines(parted, *GRAPHS))
    (place,) = [place for place, line in enumerate(lines) if line.startswith("  Known: ")]
    assert lines[place - 1].startswith("  Cause, tried: ")
    assert "claim 43: Batch norm's momentum" in lines[place]
    found = diff_document(report(), parted)["divergence"]["known"]
    assert [(it["kind"], it["name"]) for it in found] == [("claim", "43"), ("surprise", "selu")]
    assert found[1]["title"] == "The gradient of SELU is wrong for negative numbers"


def test_further_divergences_are_counted_or_listed() -> None:
    seen = *PARTED.seen, *[Seen(FURTHER)] * 2
    parted = msgspec.structs.replace(PARTED, seen=seen)
    _, further, _ = divergences(parted)
    assert further.startswith("Further divergence in forward: ")
    first = list(diff_lines(parted, *GRAPHS))
    assert any("2 further" in line and "--all" in line for line in first)
    assert further not in first
    every = list(diff_lines(parted, *GRAPHS, list_all=True))
    assert every.count(further) == 2
    assert "  torch-tape       input (n0)  7  net.py:2" in every
    assert not any("--all" in line for line in every)


def test_what_was_tried_in_vain_is_said_where_all_is_listed() -> None:
    parted = explained(PARTED, has_cause=False)
    said = "  61 changes were tried here: none gives"
    assert any(line.startswith(said) for line in diff_lines(parted, *GRAPHS, list_all=True))
    assert not any("were tried" in line for line in diff_lines(parted, *GRAPHS))
    found = explained(PARTED)
    lines = list(diff_lines(found, *GRAPHS, list_all=True))
    assert any("Cause, tried: " in line for line in lines)
    assert not any("were tried" in line for line in lines)


@pytest.mark.parametrize("eps", [1e-5, 1e-3])
def test_settings_of_layers_that_differ_are_named_and_called_no_cause(eps: float) -> None:
    graphs = []
    for engine, momentum, value in (("torch-tape", 0.1, 1e-5), ("mindspore-graph", 0.9, eps)):
        plain = graph(engine)
        settings: Arguments = {"eps": value, "momentum": momentum}
        nodes = [msgspec.structs.replace(node, scope="fc") for node in plain.nodes]
        layers = {"fc": Layer("nn.BatchNorm2d", settings)}
        graphs.append(msgspec.structs.replace(plain, nodes=tuple(nodes), layers=layers))
    left, right = graphs
    made = "their layers were made with other settings: `nn.BatchNorm2d(eps=1e-05)` (torch-tape)"
    untested = [line for line in diff_lines(PARTED, left, right, list_all=True) if made in line]
    assert [line.endswith("this was not tested") for line in untested] == [True] * (eps != 1e-5)
    tried = explained(PARTED, has_cause=False)
    said = [line for line in diff_lines(tried, left, right, list_all=True) if made in line]
    assert [line.endswith("that these are the cause") for line in said] == [True] * (eps != 1e-5)
    assert not any(made in line for line in diff_lines(PARTED, left, right))


@pytest.mark.parametrize(("side", "engine"), [("left", "torch-tape"), ("right", "mindspore-graph")])
def test_equal_results_do_not_hide_values_that_contradict_each_other(
    side: SideName, engine: str
) -> None:
    wrong = Unpaired(side=side, node="n2", reason="refuted", why=Recorded(Absence("random")))
    alike = msgspec.structs.replace(ALIKE, unpaired=(wrong,))
    lines = list(diff_lines(alike, *GRAPHS))
    assert "no divergence" in lines[3]
    assert lines[4] == f"refuted: MulBackward (n2) of {engine}: it draws random numbers"
    # Of a graph that is not that of the call nothing is judged.
    altered = msgspec.structs.replace(alike, altered=(engine,))
    assert not any(line.startswith("refuted") for line in diff_lines(altered, *GRAPHS))


def test_the_document_says_which_scenario_it_is_about() -> None:
    document = diff_document(report(), ALIKE)
    assert document["scenario"] == "dense_mse"
    assert (document["left"], document["right"]) == ("torch-tape", "mindspore-graph")
    assert document["same"] is True
    parted = diff_document(report(), PARTED)
    assert parted["divergence"] == {
        "left": "n2",
        "right": "n2",
        "phase": "backward",
        "kind": "other_value",
        "sentence": first_divergence(PARTED),
        "left_source": "net.py:3",
        "right_source": "net.py:3",
        "left_value": "4",
        "right_value": "4.004",
        "greatest": 0.004,
        "noise": 1e-6,
        "is_least": False,
        "ratio": 4000.0,
        "cause": None,
        "attempts": None,
        "known": [],
    }
    assert document["further"] == []


def test_results_that_are_drawn_are_named_and_where_all_are_none_is_called_the_same() -> None:
    drawn = msgspec.structs.replace(ALIKE, drawn=("dx",))
    remark = diff_document(report(), drawn)["remark"]
    assert remark in list(diff_lines(drawn, *GRAPHS))
    assert remark.endswith(": dx")
    assert diff_document(report(), ALIKE)["remark"] == ""
    case = msgspec.structs.replace(case_report(GradCase("grad", 0)), verdict="drawn")
    *_, last = diff_lines(drawn, *GRAPHS, case=case)
    assert last == "no divergence: there is no result whose values can be compared"


def test_the_results_are_said_below_the_name_of_the_case() -> None:
    case = case_report(GradCase("grad", 0), wrong="mindspore-graph", factor=2.0)
    label, outcome, *_, last = diff_lines(ALIKE, *GRAPHS, case=case)
    assert label == ALIKE.case
    assert outcome == f"  {headline(case)}"
    assert last == "no divergence found in the graphs, although the results of the calls differ"


@pytest.mark.slow
def test_two_engines_differ_by_results_divergences_and_findings_and_not_by_the_oracle() -> None:
    same = msgspec.structs.replace(report(foreseen=False), alignments=(), findings=())
    assert not do_differ(same)
    assert do_differ(msgspec.structs.replace(same, alignments=(PARTED,)))
    alarm = ReportFinding(fact=LoneStart("w", "torch"))
    assert do_differ(msgspec.structs.replace(same, findings=(alarm,)))
    masks = ReportFinding(fact=SameMasks({"drop": 0.1}, {"drop": 0.1}))
    assert not do_differ(msgspec.structs.replace(same, findings=(masks,)))
    case = case_report(GradCase("grad", 0), wrong="torch-graph", factor=2.0)
    assert do_differ(msgspec.structs.replace(same, cases=(case,)))
    refuted = case_report(GradCase("grad", 0), wrong="", factor=1.0)
    refuted = msgspec.structs.replace(refuted, oracle_agrees=False, expected=False)
    assert not do_differ(msgspec.structs.replace(same, cases=(refuted,)))


def test_many_results_that_differ_are_counted() -> None:
    names = tuple(f"dw{number}" for number in range(40))
    for count, end in ((8, "dw7"), (9, "dw7, … (9 in all)"), (40, "dw7, … (40 in all)")):
        many = msgspec.structs.replace(PARTED, differing=names[:count])
        *_, last = diff_lines(many, *GRAPHS)
        assert last.endswith(end)
