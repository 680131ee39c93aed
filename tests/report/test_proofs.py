"""Of which graphs of a report proofs are told."""

import msgspec

from explorer.words.proofs import last_stages
from tests.support.sample_report import graph


def test_of_each_engine_the_graph_of_its_last_stage_is_taken() -> None:
    stages = []
    for engine, stage in (("torch-graph", "a"), ("torch-tape", "tape"), ("torch-graph", "b")):
        stages.append(msgspec.structs.replace(graph(engine), stage=stage))
    last = {taken.engine: taken.stage for taken in last_stages(stages)}
    assert last == {"torch-graph": "b", "torch-tape": "tape"}
