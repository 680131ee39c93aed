"""Cases in words."""

import msgspec
import numpy as np
import pytest

from explorer.compare.results.verdicts import judge
from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES as EVERY_ENGINE
from explorer.model.failures import Failure
from explorer.model.report import ORACLE, CaseReport, Difference, Disagreement, Report
from explorer.model.results import Estimate, Obstacle, OracleResult, Result
from explorer.report.scenario.case_rows import case_row
from explorer.text.language import said_in
from explorer.words import answers, cases
from explorer.words.cases import described, greatest, summary, summary_of
from explorer.words.oracle import kinks, obstacles, oracle_summary
from tests.support.sample_report import DIVERGENCE, alignment, case_report, report
from tests.support.standard_engines import ENGINES

PARTED = alignment("mindspore-graph", "torch-tape", DIVERGENCE)
UNFORESEEN = msgspec.structs.replace(PARTED, expected=False)


def with_cases(*chosen: CaseReport) -> Report:
    return msgspec.structs.replace(report(), cases=chosen)


def test_cases_that_every_engine_rejects_are_counted_together_with_those_that_must_be() -> None:
    rejected = [case for case in report().cases if case.verdict == "all_raise"]
    must = [case for case in rejected if case.case.must_fail]
    assert len(must) > 1
    free = [msgspec.structs.replace(must[0], case=GradCase("grad", 0))]
    assert not free[0].case.must_fail
    said = summary(with_cases(*must[:2], *free[:1]))
    assert "3 raise in every engine (as 2 must); all as expected" in said
    assert "2 raise in every engine (as required); " in summary(with_cases(*must[:2]))
    assert "1 raises in every engine; " in summary(with_cases(free[0]))


def test_unexpected_divergences_and_findings_are_counted() -> None:
    whole = msgspec.structs.replace(report(), alignments=(UNFORESEEN,))
    assert "; 1 pair of graphs has an unexpected divergence" in summary(whole)
    whole = msgspec.structs.replace(report(), alignments=(UNFORESEEN, UNFORESEEN, PARTED))
    assert "; 2 pairs of graphs have an unexpected divergence" in summary(whole)
    assert "pair" not in summary(msgspec.structs.replace(report(), alignments=(PARTED,)))


def test_of_a_report_without_cases_nothing_is_said_to_be_as_expected() -> None:
    empty = msgspec.structs.replace(with_cases(), alignments=(), findings=())
    assert summary(empty) == "0 cases; no gradient was compared"
    assert summary_of([], empty) == summary(empty)


@pytest.mark.parametrize("noise", [0.0, 1e-6])
def test_a_difference_names_its_place_its_size_and_its_engines(noise: float) -> None:
    ratio = 240.0 if noise else 0.0
    difference = Difference(
        "value", ("torch-tape", "mindspore-graph"), 0.008, 0.001, "dx", (0, 2), "", noise, ratio
    )
    within = "0.001 of the greater, 240 × the noise of 1e-06" if noise else "0.001 of the greater"
    assert described(difference) == (
        f"greatest at dx[0, 2]: 0.008 ({within}) between torch-tape and mindspore-graph"
    )
    assert greatest(difference) == ("0.008, 240 × the noise" if noise else "0.008")
    with said_in("zh"):
        # The sides are told apart.
        assert described(difference).endswith("，出现在 torch-tape 与 mindspore-graph 之间")


def test_a_difference_of_another_kind_says_what_differs() -> None:
    engines = "torch-tape", "mindspore-graph"
    between = "differs between torch-tape and mindspore-graph: (1,) against ()"
    shape = Difference("shape", engines, leaf="dx", detail="(1,) against ()")
    assert described(shape) == f"shape of dx {between}"
    assert greatest(shape) == "shape"
    structure = Difference("structure", engines, detail="(1,) against ()")
    assert described(structure) == f"structure {between}"
    lost = Difference("value", engines, float("inf"), leaf="dx")
    assert described(lost).startswith("at dx one is nan or inf and the other is not the same")
    assert greatest(lost) == "nan or inf"
    assert greatest(None) == "0"


def test_the_sides_of_a_disagreement_are_told_apart() -> None:
    graph_m, tape_m, tape_t, graph_t = ENGINES
    surprise = Disagreement((graph_m, tape_m), (tape_t, graph_t, ORACLE))
    case = msgspec.structs.replace(
        case_report(GradCase("grad", 0)), expected=False, surprise=surprise
    )
    assert cases.reason(case) == (
        "both mindspore engines disagree with both torch engines and central-differences;"
        " the scenario declares no such difference"
    )
    with said_in("zh"):
        # "和" would stand among "与", which is between the sides.
        assert cases.reason(case) == (
            "MindSpore 的两个引擎与 PyTorch 的两个引擎、中心差分不一致，场景没有声明这一差异"
        )


def test_engines_are_named_in_as_few_words_as_tell_them() -> None:
    graph_m, tape_m, tape_t, graph_t = every_engine = tuple(ENGINES)
    assert cases.who(every_engine, every_engine) == "all engines"
    assert cases.who((graph_m, tape_m, tape_t), every_engine) == "all but torch-graph"
    assert cases.who((graph_m, graph_t), every_engine) == "both graph engines"
    assert cases.who((tape_t, graph_t), every_engine) == "both torch engines"
    assert cases.who((graph_m, tape_t), every_engine) == "mindspore-graph, torch-tape"
    assert cases.who((tape_t,), every_engine) == "torch-tape"
    with said_in("zh"):
        assert cases.who((graph_m, tape_m), every_engine) == "MindSpore 的两个引擎"
        assert cases.who((tape_t, graph_t), every_engine) == "PyTorch 的两个引擎"
    # So are those of three frameworks.
    graph_m, tape_m, tape_t, graph_t, tape_j, graph_j = every_engine = tuple(EVERY_ENGINE)
    assert cases.who((tape_m, tape_t, tape_j), every_engine) == "all tape engines"
    assert cases.who((graph_m, graph_t), every_engine) == "mindspore-graph, torch-graph"
    assert cases.who((tape_j, graph_j), every_engine) == "both jax engines"
    both_and_one = "both mindspore engines, torch-tape"
    assert cases.who((graph_m, tape_m, tape_t), every_engine) == both_and_one
    with said_in("zh"):
        assert cases.who((graph_m, graph_t, graph_j), every_engine) == "所有静态图引擎"
        assert cases.who((tape_j, graph_j), every_engine) == "JAX 的两个引擎"


def test_the_oracle_s_cell_says_how_much_it_saw() -> None:
    case = case_report(GradCase("grad", 0))
    assert cases.oracle(case) == "agrees"
    estimates = case.oracle.estimates
    along = [msgspec.structs.replace(estimate, directions=16) for estimate in estimates]
    projected = msgspec.structs.replace(case, oracle=OracleResult("ok", tuple(along)))
    assert cases.oracle(projected) == "agrees ·16"
    two = case_report(GradCase("grad", (0, 1))).oracle.estimates
    some = OracleResult("ok", (msgspec.structs.replace(two[0], directions=16), *two[1:]))
    assert len(two) == 2
    assert cases.oracle(msgspec.structs.replace(case, oracle=some)) == "agrees ·16"
    kinked = [msgspec.structs.replace(part, kinks=part.value) for part in estimates]
    bent = msgspec.structs.replace(case, oracle=OracleResult("ok", tuple(kinked)))
    assert cases.oracle(bent) == "agrees, not at kinks"
    assert "(3 of them at a kink)" in answers.estimates(bent.oracle)
    assert cases.oracle(msgspec.structs.replace(case, oracle_agrees=False)) == "differs"
    silent = msgspec.structs.replace(case, oracle_agrees=None)
    assert cases.oracle(silent) == "cannot judge"
    without = {name: Result(outcome="raised") for name in case.results}
    assert cases.oracle(msgspec.structs.replace(silent, results=without)) == ""
    assert cases.oracle(msgspec.structs.replace(bent, oracle_agrees=None)) == "cannot judge"
    late = msgspec.structs.replace(silent, oracle=OracleResult("timed_out"))
    assert cases.oracle(late) == "out of time"
    apart = msgspec.structs.replace(case, has_two_nets=True)
    assert cases.oracle(apart) == "agrees (torch only)"


def undefined(names: tuple[str, ...], drawn: tuple[str, ...], agrees: bool | None) -> CaseReport:
    """A case of which the oracle has estimates of the leaves ``names`` that are not finite."""
    case = case_report(GradCase("grad", (0, 1)))
    estimates = []
    for estimate in case.oracle.estimates:
        is_undefined = estimate.name in names
        value = pack(np.full(estimate.value.shape, np.nan)) if is_undefined else estimate.value
        estimates.append(msgspec.structs.replace(estimate, value=value))
    oracle = OracleResult("ok", tuple(estimates))
    return msgspec.structs.replace(case, oracle=oracle, drawn=drawn, oracle_agrees=agrees)


def test_an_oracle_that_is_not_finite_says_so_and_is_counted_so() -> None:
    for names, drawn, agrees, word, kind in (
        (("dx",), (), True, "agrees, in part", "partly"),
        (("dx", "dy"), (), None, "cannot judge", "unjudged"),
        (("dy",), ("dx",), None, "cannot judge", "unjudged"),
        # What is drawn is left out, and nobody looks at its estimate.
        (("dx",), ("dx",), True, "agrees", "agrees"),
        (("dx",), ("dx", "dy"), None, "drawn", "drawn"),
    ):
        case = undefined(names, drawn, agrees)
        assert cases.oracle(case) == word
        assert cases.stand(case) == kind
    where, nowhere = undefined(("dx",), (), True), undefined(("dx", "dy"), (), None)
    line = oracle_summary([where, nowhere, nowhere])
    assert "agrees where it can judge in 1, cannot judge 2" in line


def raising(*engines: str) -> CaseReport:
    """A case that these engines refuse."""
    case = case_report(GradCase("grad", 0))
    error = Failure("ValueError", "no")
    results = {
        name: Result(outcome="raised", error=error) if name in engines else result
        for name, result in case.results.items()
    }
    return judge(case.case, results, case.oracle)


@pytest.mark.parametrize(
    ("engines", "text"),
    [
        (("torch-tape", "torch-graph"), "only PyTorch raises"),
        (("mindspore-tape", "mindspore-graph"), "only MindSpore raises"),
        (("torch-tape",), "only torch-tape raises"),
        (("mindspore-graph", "torch-graph"), "only mindspore-graph and torch-graph raise"),
        (
            ("mindspore-graph", "mindspore-tape", "torch-graph"),
            "only mindspore-graph, mindspore-tape and torch-graph raise",
        ),
        ((), "match"),
        (tuple(ENGINES), "all raise"),
    ],
)
def test_where_some_engines_raise_the_verdict_says_which(
    engines: tuple[str, ...], text: str
) -> None:
    case = raising(*engines)
    assert cases.verdict(case) == text
    assert case_row(case).verdict == text
    if text.startswith("only"):
        assert case.verdict == "some_raise"
        assert case_row(case).greatest == "—"


def test_several_frameworks_that_raise_are_named() -> None:
    case = raising("torch-tape", "torch-graph")
    given, raised = case.results["mindspore-graph"], case.results["torch-graph"]
    for others, text in (
        ((raised, raised), "only PyTorch and JAX raise"),
        ((given, given), "only PyTorch raises"),
        ((raised, given), "only torch-tape, torch-graph and jax-tape raise"),
    ):
        results = case.results | dict(zip(("jax-tape", "jax-graph"), others, strict=True))
        assert cases.verdict(msgspec.structs.replace(case, results=results)) == text


@pytest.mark.parametrize(
    ("verdict", "size", "text"),
    [
        ("differs", "3", "differs by 3"),
        ("differs", "1.2e-05, 3,800 × the noise", "differs by 1.2e-05, 3,800 × the noise"),
        ("differs", "structure", "differs in structure"),
        ("close", "2e-08", "close 2e-08"),
    ],
)
def test_a_verdict_has_its_size_which_is_no_count(verdict: str, size: str, text: str) -> None:
    assert cases.sized(verdict, size) == text


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("abc", "da[0], db[0], dc[0]"),
        ("abcd", "da[0], db[0], dc[0], dd[0]"),
        ("abcde", "da[0], db[0], dc[0], 2 others"),
    ],
)
def test_of_many_places_the_oracle_names_a_few_and_never_counts_one(names: str, said: str) -> None:
    at_kinks, value = pack(np.array([1.0, 0.0])), pack(np.array([0.5, 2.0]))
    assert kinks([Estimate(f"d{name}", value, kinks=at_kinks) for name in names]) == said
    jump = (Obstacle("jump", 1, (0,)),)
    jumps = [Estimate(f"d{name}", value, obstacles=jump) for name in names]
    assert obstacles(jumps) == f"the net jumps or is infinitely steep ({said})"
