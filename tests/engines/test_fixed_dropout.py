"""Dropout layers that drop the same elements in both frameworks (SAME_DROPOUT)."""

from pathlib import Path

import pytest

from explorer.compare.results import compare
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.errors import ScenarioError
from explorer.model.requests import CaseRequest, Description, NetRequest
from explorer.model.results import OracleResult, Result
from explorer.scenario.common_start import settle
from explorer.scenario.load import load
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.scenario_files import written

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

TEXT = """
import numpy as np

TRAIN = {train}
SAME_DROPOUT = True


def inputs():
    return {{"x": np.linspace(-1, 2, 32, dtype=np.float32).reshape(4, 8)}}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.SequentialCell(nn.Dense(8, 16), nn.Tanh(), nn.Dropout(p=0.5))
            self.last = nn.Dropout(p={rate})
            self.whole = nn.Dropout2d(p=0.5)

        def construct(self, x):
            h = self.layers(x)
            {there}h = self.last(h)
            return (h * h).sum()

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Dropout(0.5))
            self.last = nn.Dropout(0.25)
            self.whole = nn.Dropout2d(0.5)

        def forward(self, x):
            h = self.layers(x)
            {here}h = self.last(h)
            return (h * h).sum()

    return Net()
"""


def answers(
    folder: Path,
    workers: Workers,
    rate: float = 0.25,
    train: bool = True,
    here: str = "",
    there: str = "",
) -> dict[str, Result]:
    """The gradient of each engine; PyTorch's net begins with ``here``, MindSpore's with ``there``."""
    text = TEXT.format(rate=rate, train=train, here=here, there=there)
    path = written(folder, text, f"same_dropout_{train}.py")
    nets = settle(load(path), workers, tuple(ENGINES), dict.fromkeys(ENGINES, "cpu"))
    results = {}
    for name, engine in ENGINES.items():
        request = CaseRequest(nets.requests[name], GradCase("grad", 0, "all"))
        reply = workers.call(engine.answers_in[0], f"{engine.module}:answer", request, Result)
        assert not isinstance(reply, Lost)
        assert reply.outcome == "ok", (name, reply.error)
        results[name] = reply
    return results


def verdicts(results: dict[str, Result]) -> dict[str, str]:
    reference = results.pop("torch-tape")
    return {name: compare(reference, result).verdict for name, result in results.items()}


def test_all_engines_drop_the_same_elements(tmp_path: Path, workers: Workers) -> None:
    results = answers(tmp_path, workers)
    dropped = unpack(results["torch-tape"].leaves[1].value)
    plain = unpack(answers(tmp_path, workers, train=False)["torch-tape"].leaves[1].value)
    assert abs(dropped - plain).max() > 0.1
    assert set(verdicts(results).values()) <= {"match", "close"}


def test_each_net_tells_the_share_that_its_layers_drop(tmp_path: Path, workers: Workers) -> None:
    path = written(tmp_path, TEXT.format(rate=0.3, train=True, here="", there=""), "rates.py")
    rates = {}
    for engine in ("torch-tape", "mindspore-tape"):
        request = NetRequest(scenario=str(path), engine=engine)
        target = f"{ENGINES[engine].module}:describe"
        described = workers.call(ENGINES[engine].framework, target, request, Description)
        assert not isinstance(described, Lost)
        rates[engine] = described.masked
    assert rates["torch-tape"] == {"layers.2": 0.5, "last": 0.25}
    # MindSpore's are given before it is known which of them are called.
    assert rates["mindspore-tape"] == {"layers.2": 0.5, "last": 0.3, "whole": 0.5}


def test_a_rate_that_is_wrong_shows(tmp_path: Path, workers: Workers) -> None:
    told = verdicts(answers(tmp_path, workers, rate=0.3))
    assert told["torch-graph"] == "match"
    assert {told["mindspore-tape"], told["mindspore-graph"]} == {"differs"}


AGAIN = "h = self.last(h); "
CHANNELS = "h = self.whole(h.reshape(4, 4, 2, 2)).reshape(4, 16); "


def test_a_layer_that_is_called_twice_and_one_that_drops_channels_share_their_masks(
    tmp_path: Path, workers: Workers
) -> None:
    results = answers(tmp_path, workers, here=AGAIN + CHANNELS, there=AGAIN + CHANNELS)
    assert set(verdicts(results).values()) <= {"match", "close"}
    # Without the second call the rest is less enlarged.
    once = answers(tmp_path, workers, here=CHANNELS, there=AGAIN + CHANNELS)
    assert verdicts(once)["mindspore-tape"] == "differs"


@pytest.mark.parametrize(
    ("framework", "here", "there"),
    [
        ("PyTorch", "from torch.nn import functional; h = functional.dropout(h, 0.5); ", ""),
        ("MindSpore", "", "h = ops.dropout(h, 0.5, True); "),
    ],
)
def test_random_numbers_that_no_layer_draws_are_refused_with_their_line(
    tmp_path: Path, workers: Workers, framework: str, here: str, there: str
) -> None:
    refusal = rf"\.py:\d+: with SAME_DROPOUT .* {framework}'s net also draws .* CONSTANTS"
    with pytest.raises(ScenarioError, match=refusal):
        answers(tmp_path, workers, here=here, there=there)


def test_the_oracle_sees_the_same_masks_though_it_computes_in_float64(tmp_path: Path) -> None:
    path = written(
        tmp_path, TEXT.format(rate=0.25, train=True, here="", there=""), "oracle_dropout.py"
    )
    net = NetRequest(scenario=str(path), engine="torch-tape")
    request = CaseRequest(net, GradCase("grad", 0, "all"))
    # In a worker of its own: the first run of the net is the oracle's.
    with Workers() as fresh:
        oracle = fresh.call("torch", "explorer.engines.oracle:estimate", request, OracleResult)
        answer = fresh.call("torch", "explorer.engines.torch.tape:answer", request, Result)
    assert not isinstance(oracle, Lost)
    assert not isinstance(answer, Lost)
    assert oracle.error is None
    assert len(oracle.estimates) == len(answer.leaves) == 3
