"""Of which graphs of a report proofs are told."""

import msgspec

from explorer.words.proofs import ProofCounts, in_words, last_stages
from tests.support.sample_report import graph


def test_of_each_engine_the_graph_of_its_last_stage_is_taken() -> None:
    stages = []
    for engine, stage in (("torch-graph", "a"), ("torch-tape", "tape"), ("torch-graph", "b")):
        stages.append(msgspec.structs.replace(graph(engine), stage=stage))
    last = {taken.engine: taken.stage for taken in last_stages(stages)}
    assert last == {"torch-graph": "b", "torch-tape": "tape"}


def test_a_reason_of_the_graph_above_is_not_said_again() -> None:
    above = ProofCounts(0, (), {"too large": 4})
    assert in_words(above) == "0 of 4 op values proven; 4 unproven: too large"
    same = ProofCounts(1, (), {"too large": 6})
    assert in_words(same, above) == "1 of 7 op values proven; 6 unproven for the same reason"
    for other in (ProofCounts(1, (), {"random": 6}), ProofCounts(1, (), {"too large": 1, "b": 1})):
        assert in_words(other, above) == in_words(other)
    assert in_words(same, ProofCounts(0, (), {"too large": 1, "b": 1})) == in_words(same)
    assert in_words(ProofCounts(3, (), {}), ProofCounts(3, (), {})) == "3 of 3 op values proven"
