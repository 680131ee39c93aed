"""One net trained in both frameworks, by a program of each: its traces beside each other."""

import pytest

from explorer.api.results import Recorded
from tests.recording.conftest import NETS, OF_BOTH

pytestmark = [pytest.mark.torch, pytest.mark.mindspore]


@pytest.mark.parametrize("name", ["value_and_grad", "one_step_cell"])
def test_the_same_step_has_no_divergence_up_to_the_updated_weights(
    of_both: dict[str, Recorded], name: str
) -> None:
    alignment = of_both["torch"].diff(of_both[name]).alignment
    assert (alignment.divergence, alignment.differing) == (None, ())
    assert alignment.left_coverage.forward.unpaired == 0
    graph = of_both[name].trace.graph
    assert graph is not None
    results = {node.name for node in graph.nodes if node.kind == "output"}
    assert {"loss", "dfirst.weight", "first.weight", "first.weight.exp_avg"} <= results


def test_a_mistake_is_named_at_its_op_and_line(of_both: dict[str, Recorded]) -> None:
    lines = (NETS / "step_in_mindspore.py").read_text().splitlines()
    (number,) = [at for at, text in enumerate(lines, 1) if "ops.gelu(" in text]
    said = str(of_both["torch"].diff(of_both["tanh_gelu"]))
    assert "First divergence in forward" in said
    assert "`GeLU` (" in said
    assert f"step_in_mindspore.py:{number}" in said


@pytest.mark.whole
def test_another_learning_rate_is_seen_in_every_weight_and_in_no_gradient(
    of_both: dict[str, Recorded],
) -> None:
    assert set(of_both["torch"].diff(of_both["large_rate"]).alignment.differing) == set(OF_BOTH)
