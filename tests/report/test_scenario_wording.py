"""Short readings of calls, errors, engines and the oracle."""

import msgspec

from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.results import Failure, OracleResult, Result
from explorer.report.scenario import wording
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
    assert wording.oracle(msgspec.structs.replace(case, oracle_agrees=None)) == "—"


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
