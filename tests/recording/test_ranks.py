"""A data parallel step that is recorded in the process of each rank."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import ROOT, python
from tests.support.command_line import explorer as run
from tests.support.recorded_files import loaded_trace

pytestmark = pytest.mark.torch


@pytest.mark.whole
def test_each_rank_writes_a_trace_and_computes_the_same_bits(tmp_path: Path) -> None:
    program = ROOT / "tests" / "nets" / "recorded_ranks.py"
    python(program, tmp_path)
    for rank in range(2):
        without, recorded = (
            json.loads((tmp_path / f"losses{number}.{rank}.json").read_text())
            for number in range(2)
        )
        assert recorded == without

    one, other = (loaded_trace(tmp_path / f"step.rank{rank}.trace") for rank in range(2))
    for loaded in (one, other):
        assert loaded.trace.missing == ()
        assert loaded.trace.graph is not None
        assert "c10d.allreduce_.default" in {node.op for node in loaded.trace.graph.nodes}
        names = {start.name for start in loaded.trace.start if start.role != "constant"}
        assert names == {"input", "0.weight", "0.bias", "2.weight", "2.bias"}
    # Both update one net: what the ranks leave in it is the same, their samples are not.
    after = [{change.name: change.after for change in it.trace.state} for it in (one, other)]
    assert after[0] == after[1]
    assert len(after[0]) == 4

    for loaded in (one, other):
        shapes = {leaf.name: leaf.value.shape for leaf in loaded.trace.results}
        assert shapes["d0.weight"] == (8, 4)  # and not that of the bucket that is summed over ranks
    done = run("diff", str(tmp_path / "step.rank1.trace"), str(tmp_path / "whole.trace"))
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "2 ranks beside whole:"
    assert "  loss: loss: whole's is the mean of the ranks'" in lines
    assert "  data: input: whole has the ranks' rows in their order" in lines
    assert lines[-1] == "The ranks together compute what whole computes."
