"""Short readings of calls, errors, engines and the oracle."""

import msgspec
import numpy as np

from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.report import CaseReport
from explorer.model.results import Failure, OracleResult, Result
from explorer.report.scenario import overview, wording
from explorer.web import case_words
from tests.support.sample_report import case_report


def test_the_oracle_s_cell_says_how_much_it_saw() -> None:
    case = case_report(GradCase("grad", 0))
    assert wording.oracle(case) == "agrees"
    estimates = case.oracle.estimates
    along = [msgspec.structs.replace(estimate, directions=16) for estimate in estimates]
    projected = msgspec.structs.replace(case, oracle=OracleResult("ok", tuple(along)))
    assert wording.oracle(projected) == "agrees ·16"
    two = case_report(GradCase("grad", (0, 1))).oracle.estimates
    some = OracleResult("ok", (msgspec.structs.replace(two[0], directions=16), *two[1:]))
    assert len(two) == 2
    assert wording.oracle(msgspec.structs.replace(case, oracle=some)) == "agrees ·16"
    kinked = [msgspec.structs.replace(part, kinks=part.value) for part in estimates]
    bent = msgspec.structs.replace(case, oracle=OracleResult("ok", tuple(kinked)))
    assert wording.oracle(bent) == "agrees, not at kinks"
    assert "(3 of them at a kink)" in wording.estimates(bent.oracle)
    assert wording.oracle(msgspec.structs.replace(case, oracle_agrees=False)) == "differs"
    silent = msgspec.structs.replace(case, oracle_agrees=None)
    assert wording.oracle(silent) == "cannot judge"
    without = {name: Result(outcome="raised") for name in case.results}
    assert wording.oracle(msgspec.structs.replace(silent, results=without)) == "—"
    assert wording.oracle(msgspec.structs.replace(bent, oracle_agrees=None)) == "—"


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
        (("dx",), (), True, "agrees, where finite", wording.FINITE),
        (("dx", "dy"), (), None, "cannot judge", wording.UNJUDGED),
        (("dy",), ("dx",), None, "cannot judge", wording.UNJUDGED),
        # What is drawn is left out, and nobody looks at its estimate.
        (("dx",), ("dx",), True, "agrees", "agrees"),
        (("dx",), ("dx", "dy"), None, "drawn", wording.DRAWN),
    ):
        case = undefined(names, drawn, agrees)
        assert wording.oracle(case) == word
        assert wording.oracle_kind(case) == kind


def test_the_summaries_say_where_the_net_is_not_finite() -> None:
    where = undefined(("dx",), (), True)
    nowhere = undefined(("dx", "dy"), (), None)
    for summary in (case_words.oracle_summary, overview._oracle_summary):
        line = summary([where, nowhere, nowhere])
        assert "agrees where the net is finite in 1" in line
        assert "cannot judge" in line
        assert "2" in line.partition("cannot judge")[2]


def test_mindspore_errors_are_shown_without_its_own_sources_and_addresses() -> None:
    sources = f"\n\n{'-' * 52}\n- C++ Call Stack: (For framework developers)\nx.cc:1"
    message = f"For 'grad', it can not be None (value_ptr: 0x557529f56740).{sources}"
    shown = wording.failure(Failure("ValueError", message))
    assert shown == "ValueError: For 'grad', it can not be None (value_ptr: 0x…)."


def test_engines_are_named_in_as_few_words_as_tell_them() -> None:
    graph_m, tape_m, tape_t, graph_t = every_engine = tuple(ENGINES)
    assert wording.who(every_engine, every_engine) == "all engines"
    assert wording.who((graph_m, tape_m, tape_t), every_engine) == "all but torch-graph"
    assert wording.who((graph_m, graph_t), every_engine) == "both graph engines"
    assert wording.who((tape_t, graph_t), every_engine) == "both torch engines"
    assert wording.who((graph_m, tape_t), every_engine) == "mindspore-graph, torch-tape"
    assert wording.who((tape_t,), every_engine) == "torch-tape"


def test_a_lost_worker_is_named_once() -> None:
    died = Failure("crashed", "the worker process died (signal 11)")
    lost = Result(outcome="crashed", error=died)
    assert wording.answer(lost) == "crashed: the worker process died (signal 11)"
    refused = Result(outcome="unsupported", error=Failure("Unsupported", "a branch"))
    assert wording.answer(refused).endswith("Unsupported: a branch")
