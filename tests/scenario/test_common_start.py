"""Two nets that do not correspond are refused, with what is wrong."""

import pytest

from explorer.model.errors import ScenarioError
from explorer.scenario.common_start import settle
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.nets import NETS

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

TAPES = {"mindspore-tape": "cpu", "torch-tape": "cpu"}


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (
            "raises_in_forward",
            r"raises_in_forward\.py:\d+: the PyTorch net raises when it is created or run forward: \w+",
        ),
        (
            "parameters_disagree",
            r"do not match: MindSpore's net has no BatchNorm, PyTorch's has 1 \(the first one is bn\)",
        ),
        (
            "shapes_disagree",
            r"fc.weight has shape \(4, 3\) in MindSpore, \(2, 3\) in PyTorch\n",
        ),
    ],
)
def test_nets_that_cannot_be_compared_are_refused_with_what_is_wrong(
    workers: Workers, file: str, message: str
) -> None:
    with pytest.raises(ScenarioError, match=message):
        settle(load(NETS / f"{file}.py"), workers, tuple(TAPES), TAPES)


def test_an_input_that_no_position_reaches_is_refused(workers: Workers) -> None:
    scenario = load(NETS / "keyword_only.py")
    with pytest.raises(ScenarioError, match=r"takes 'mask' only by keyword"):
        settle(scenario, workers, ("torch-tape",), {"torch-tape": "cpu"})


def test_a_weight_that_one_net_alone_has_begins_alike_in_all_engines_of_it(
    workers: Workers,
) -> None:
    nets = settle(load(NETS / "lone_bias.py"), workers, tuple(TAPES), TAPES)
    assert [finding.names for finding in nets.findings] == [("fc.bias",)]
    assert nets.trainable == ("fc.weight",)
    assert set(nets.parameters) == {"fc.weight", "fc.bias"}
