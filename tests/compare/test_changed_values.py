"""No value can be changed in a captured graph without the alignment saying so."""

import pytest

from tests.support.changed_values import changes
from tests.support.samples import some
from tests.support.scenario_reports import Reports, graph

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

NAMES = (
    *("attention_block", "batch_norm_eval", "conv_bn_relu_pool", "conv_transpose", "dense_mse"),
    *("linear_bce", "odd_padding", "polynomial", "shared_weight", "top_k_mixture"),
)


@pytest.mark.parametrize("name", some(NAMES, "dense_mse"))
def test_a_value_that_is_off_by_a_hundredth_is_told(report: Reports, name: str) -> None:
    left, right = graph(report(name), "mindspore-tape"), graph(report(name), "torch-tape")
    told = list(changes(left, right))
    assert told
    assert [(side, node.id, node.op) for side, node, is_told in told if not is_told] == []
