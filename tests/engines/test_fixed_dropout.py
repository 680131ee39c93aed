"""Dropout layers that drop the same elements in both frameworks (SAME_DROPOUT)."""

from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.compare.results.comparison import compare
from explorer.exploration.explore import explore
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.errors import ScenarioError
from explorer.model.findings import RandomDraw, SameMasks
from explorer.model.requests import CaseRequest, Description, NetRequest
from explorer.model.results import Result
from explorer.numeric.random_arrays import ALL_AXES, channel_mask, dropout_mask
from explorer.scenario.common_start import settle
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.engine_requests import answer, capture, compared, estimate, of_file, reply
from tests.support.scenario_files import Side, scenario_text, written
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def whole(*values: object) -> Any:
    """A test's parameters that only the whole run takes."""
    return pytest.param(*values, marks=pytest.mark.whole)


def values_of(*shape: int) -> str:
    """The lines that make an input of a shape."""
    count = prod(shape)
    return f'return {{"x": np.linspace(-1, 2, {count}, dtype=np.float32).reshape({shape})}}'


def text(
    rate: float = 0.25, train: bool = True, here: str = "", there: str = "", same: bool = True
) -> str:
    """A scenario; PyTorch's net begins with ``here``, MindSpore's with ``there``."""
    mindspore = f"""
    self.layers = nn.SequentialCell(nn.Dense(8, 16), nn.Tanh(), nn.Dropout(p=0.5))
    self.last = nn.Dropout(p={rate})
    self.whole = nn.Dropout2d(p=0.5)
    """
    torch = """
    self.layers = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Dropout(0.5))
    self.last = nn.Dropout(0.25)
    self.whole = nn.Dropout2d(0.5)
    """
    lines = "h = self.layers(x)\n{}h = self.last(h)\nreturn (h * h).sum()"
    return scenario_text(
        values_of(4, 8),
        Side(mindspore, lines.format(there)),
        Side(torch, lines.format(here)),
        head=f"TRAIN = {train}\nSAME_DROPOUT = {same}",
    )


def answers(folder: Path, workers: Workers, **changes: Any) -> dict[str, Result]:
    """The gradients of each engine of the scenario with some changes."""
    name = f"same_dropout_{changes.get('train', True)}.py"
    return answered(written(folder, text(**changes), name), workers)


def answered(path: Path, workers: Workers) -> dict[str, Result]:
    """What each engine answers on a scenario."""
    nets = settle(load(path), workers, tuple(ENGINES), dict.fromkeys(ENGINES, "cpu"))
    case, results = GradCase("grad", 0, "all"), {}
    for name in ENGINES:
        results[name] = answer(workers, CaseRequest(nets.requests[name], case))
        assert results[name].outcome == "ok", (name, results[name].error)
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
    path = written(tmp_path, text(rate=0.3), "rates.py")
    rates = {}
    for engine in ("torch-tape", "mindspore-tape"):
        request = NetRequest(scenario=str(path), engine=engine)
        target = f"{ENGINES[engine].module}:describe"
        framework = ENGINES[engine].framework
        rates[engine] = reply(workers.call(framework, target, request, Description)).masked
    assert rates["torch-tape"] == {"layers.2": 0.5, "last": 0.25}
    # MindSpore's are given before it is known which of them are called.
    assert rates["mindspore-tape"] == {"layers.2": 0.5, "last": 0.3, "whole": 0.5}


def test_layers_whose_masks_are_shared_are_named_with_their_rates(
    tmp_path: Path, workers: Workers
) -> None:
    path = written(tmp_path, text(rate=0.3), "layers.py")
    layers = {
        engine: compared(capture(workers, of_file(path, engine))).layers
        for engine in ("torch-tape", "mindspore-tape")
    }
    for scope, rates in (("layers.2", (0.5, 0.5)), ("last", (0.25, 0.3))):
        named = [it[scope] for it in layers.values()]
        assert [it.name for it in named] == ["nn.Dropout", "nn.Dropout"]
        assert tuple(it.settings["p"] for it in named) == rates


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
        ("PyTorch", "h = h * torch.rand_like(h); ", ""),
        ("MindSpore", "", "h = h * ops.rand_like(h); "),
    ],
)
def test_random_numbers_that_no_dropout_draws_are_refused_with_their_line(
    tmp_path: Path, workers: Workers, framework: str, here: str, there: str
) -> None:
    refusal = rf"\.py:\d+: with SAME_DROPOUT .* {framework}'s net also draws .* CONSTANTS"
    with pytest.raises(ScenarioError, match=refusal):
        answers(tmp_path, workers, here=here, there=there)


FUNCTION = "h = F.dropout(h, 0.3, self.training); "
MINDSPORE_FUNCTION = "h = ops.dropout(h, 0.3, self.training); "
CHANNEL_FUNCTION = "h = F.dropout2d(h.reshape(4, 4, 2, 2)).reshape(4, 16); "
MINDSPORE_CHANNELS = "h = ops.dropout2d(h.reshape(4, 4, 2, 2)).reshape(4, 16); "


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (FUNCTION, MINDSPORE_FUNCTION),
        # A function beside a layer of the same rate.
        whole("h = F.dropout(h, 0.25); ", AGAIN),
        whole(CHANNEL_FUNCTION, MINDSPORE_CHANNELS),
        whole(CHANNEL_FUNCTION, CHANNELS),
    ],
)
def test_a_dropout_function_drops_what_a_layer_drops(
    tmp_path: Path, workers: Workers, here: str, there: str
) -> None:
    results = answers(tmp_path, workers, here=here, there=there)
    assert set(verdicts(results).values()) <= {"match", "close"}
    # Where only one side calls it, the results differ.
    once = answers(tmp_path, workers, here=here)
    assert verdicts(once)["mindspore-tape"] == "differs"


def test_a_function_has_masks_until_a_net_that_shares_none(
    tmp_path: Path, workers: Workers
) -> None:
    given = answers(tmp_path, workers, here=FUNCTION, there=MINDSPORE_FUNCTION)
    own = text(here=FUNCTION, there=MINDSPORE_FUNCTION, same=False)
    path = written(tmp_path, own, "own_draws.py")
    for engine in ("torch-tape", "mindspore-tape"):
        drawn = answer(workers, of_file(path, engine))
        assert drawn.leaves[0] != given[engine].leaves[0]


DERIVED = """
        class Mine({layer}):
            pass

"""
TWICE = """
        class Mine({layer}):
            def {method}(self, x):
                return super().{method}(x) * 2

"""


@pytest.mark.parametrize(
    ("sides", "derived"),
    [
        ("mindspore", TWICE),
        whole("both", TWICE),
        whole("mindspore", DERIVED),
        whole("both", DERIVED),
    ],
)
def test_a_derived_layer_drops_like_its_base(
    tmp_path: Path, workers: Workers, derived: str, sides: str
) -> None:
    mindspore, torch = text().split("def torch_net")
    mindspore = with_derived(mindspore, derived, "construct")
    if sides == "both":
        torch = with_derived(torch, derived, "forward")
    path = written(tmp_path, f"{mindspore}def torch_net{torch}", "derived.py")
    found = verdicts(answered(path, workers))
    doubles = derived == TWICE and sides == "mindspore"
    assert found["torch-graph"] == "match"
    assert (found["mindspore-tape"] == "differs") is doubles
    assert (found["mindspore-graph"] == "differs") is doubles


def with_derived(side: str, derived: str, method: str) -> str:
    """One net whose last dropout is of a derived class."""
    head, body = side.split("    class Net", 1)
    lines = derived.format(layer="nn.Dropout", method=method).replace("\n        ", "\n    ")
    return (
        head
        + lines
        + "    class Net"
        + body.replace("self.last = nn.Dropout(", "self.last = Mine(")
    )


def of_depth(name: str, rate: str, more: str, same: bool = True) -> str:
    """A scenario of stochastic depth, by a class of PyTorch with that name, rate and setting."""
    mindspore = """
    class DropPath(nn.Cell):
        def __init__(self, rate):
            super().__init__()
            self.dropout = nn.Dropout(p=rate)

        def construct(self, x):
            return x * self.dropout(ops.ones((x.shape[0], 1, 1, 1)))

    self.depth = DropPath(0.4)
    """
    torch = f"""
    class {name}(nn.Module):
        def __init__(self):
            super().__init__()
            self.{rate} = 0.4
            {more}

        def forward(self, x):
            mask = x.new_empty((x.shape[0], 1, 1, 1)).bernoulli_(0.6).div_(0.6)
            return x * mask if self.training else x

    class Derived({name}):
        pass

    self.depth = Derived()
    """
    lines = "return (self.depth(x * x)).sum()"
    head = f"TRAIN = True\nSAME_DROPOUT = {same}"
    sides = Side(mindspore, lines), Side(torch, lines)
    return scenario_text(values_of(8, 3, 2, 2), *sides, head=head)


@pytest.mark.parametrize(
    ("name", "rate", "more", "factor"),
    [
        ("DropPath", "drop_prob", "self.scale_by_keep = False", 0.6),
        ("StochasticDepth", "p", "self.mode = 'row'", 1),
        whole("DropPath", "drop_prob", "pass", 1),
        whole("DropPath", "rate", "pass", 1),
        whole("StochasticDepth", "drop_rate", "pass", 1),
    ],
)
def test_stochastic_depth_drops_the_same_samples(
    tmp_path: Path, workers: Workers, name: str, rate: str, more: str, factor: float
) -> None:
    path = written(tmp_path, of_depth(name, rate, more), f"depth_{factor}.py")
    x = np.linspace(-1, 2, 96, dtype=np.float32).reshape(8, 3, 2, 2)
    mask = dropout_mask((8, 1, 1, 1), 0.4)
    assert 0 < np.count_nonzero(mask) < 8
    for engine in ENGINES.values():
        (gradient,) = answer(workers, of_file(path, engine.name)).leaves
        expected = 2 * x * mask
        if engine.framework == "torch":
            expected = expected * np.float32(factor)
        np.testing.assert_allclose(unpack(gradient.value), expected, rtol=1e-6)


@pytest.mark.parametrize("has_default", [True, whole(False)])
def test_layers_of_one_net_alone_draw_like_the_operator_of_the_other(
    tmp_path: Path, workers: Workers, has_default: bool
) -> None:
    declared = of_depth("Thinning", "share", "pass", same=False)
    if has_default:
        declared = declared.replace("SAME_DROPOUT = False", "")
    scenario = load(written(tmp_path, declared, f"thinning_{has_default}.py"))
    report = explore(scenario, workers, selection="main", oracle=False)
    (case,) = report.cases
    assert case.verdict == "drawn"
    assert case.expected
    alone = [found.fact for found in report.findings if isinstance(found.fact, SameMasks)]
    assert alone == ([] if not has_default else [SameMasks({}, {"depth.dropout": 0.4})])
    draws = [found.fact for found in report.findings if isinstance(found.fact, RandomDraw)]
    assert {ENGINES[fact.engine].framework for fact in draws} == {"mindspore", "torch"}


def test_a_depth_that_drops_the_whole_batch_has_one_factor() -> None:
    assert channel_mask((4, 3, 2), 0.5, ALL_AXES).shape == (1, 1, 1)
    assert channel_mask((4, 3, 2), 0.5, -1).shape == (4, 1, 1)
    assert channel_mask((4, 3, 2), 0.5, 1).shape == (4, 3, 1)


CALLED = """
x = {0}.tanh(x)
x = self.drop(x)
x = {0}.exp(x)
x = {1}
return x.sum()
"""

LINES = scenario_text(
    values_of(4, 8),
    Side("self.drop = nn.Dropout(p=0.5)", CALLED.format("ops", "ops.dropout(x, p=0.25)")),
    Side("self.drop = nn.Dropout(0.5)", CALLED.format("torch", "F.dropout(x, 0.25)")),
    head="TRAIN = True\nSAME_DROPOUT = True",
)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_given_mask_is_applied_at_the_line_of_the_net(
    tmp_path: Path, workers: Workers, engine: str
) -> None:
    path = written(tmp_path, LINES, "lines.py")
    graph = compared(capture(workers, of_file(path, engine)))
    texts = []
    for node in sorted(graph.nodes, key=lambda node: node.order):
        if node.phase == "forward" and node.op in ("Mul", "aten.mul.Tensor"):
            number = int(node.source[0].rpartition(":")[2])
            texts.append(LINES.splitlines()[number - 1].strip())
    function = "F.dropout(x, 0.25)" if engine.startswith("torch") else "ops.dropout(x, p=0.25)"
    assert texts == ["x = self.drop(x)", f"x = {function}"]


@pytest.mark.whole
def test_the_oracle_sees_the_same_masks_though_it_computes_in_float64(tmp_path: Path) -> None:
    path = written(tmp_path, text(), "oracle_dropout.py")
    request = of_file(path, case=GradCase("grad", 0, "all"))
    # In a worker of its own: the first run of the net is the oracle's.
    with Workers() as fresh:
        oracle, gradients = estimate(fresh, request), answer(fresh, request)
    assert oracle.error is None
    assert len(oracle.estimates) == len(gradients.leaves) == 3
