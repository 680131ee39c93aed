"""Dropout with a mask that is an input, and in inference mode."""

import pytest

from tests.support.scenario_reports import BY_BOTH, Reports, all_say, ops, row, values_of
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def test_what_dropout_drops_gets_no_gradient_and_the_rest_a_larger_one(report: Reports) -> None:
    whole = report("dropout")
    x, mask = values_of(whole)["x"], values_of(whole)["mask"]
    expected = {"dx": 2 * x * mask / 0.75**2, "dmask": 2 * x**2 * mask / 0.75**2}
    all_say(row(whole, BY_BOTH), expected)


def test_in_inference_mode_there_is_no_mask_in_any_graph(report: Reports) -> None:
    for engine in ENGINES:
        for op in ops(report("dropout"), engine, "backward"):
            assert "drop" not in op.lower()
            assert "bernoulli" not in op.lower()
