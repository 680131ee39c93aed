"""One start for two nets, from what the first look at each found: descriptions that are written."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.model.arrays import pack, unpack
from explorer.model.engines import Framework
from explorer.model.errors import ScenarioError, UsageError
from explorer.model.failures import Failure, Loss
from explorer.model.findings import PairedParameters
from explorer.model.requests import (
    Description,
    NetRequest,
    OutputSpec,
    ParameterSpec,
    Responses,
    Role,
)
from explorer.model.results import Result
from explorer.model.trees import Tree, branch
from explorer.scenario.common_start import Nets, settle
from explorer.scenario.load import load
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.scenario_files import MINDSPORE_NET, MINIMAL, written

ENGINES = {"mindspore-graph": "npu:1", "mindspore-tape": "npu:0", "torch-tape": "cuda:1"}
"""Some engines with their devices."""

SCALAR = OutputSpec((), "float32")


class Described(Workers):
    """Workers that answer a first look with a description that is written."""

    def __init__(self, **looks: Description | Lost) -> None:
        super().__init__()
        self.looks = looks
        self.asked: list[tuple[str, str, NetRequest]] = []

    def call(self, kind: Any, target: str, argument: Any, reply: Any) -> Any:
        """As Workers.call."""
        if reply is Responses:
            return Lost("crashed", Loss(kind="died", code=-6))
        assert reply is Description
        self.asked.append((kind, target, argument))
        return self.looks[kind]


def spec(name: str, value: float, role: Role = "trained", path: str = "") -> ParameterSpec:
    """A tensor of two equal numbers."""
    return ParameterSpec(name, path or name, role, pack(np.full(2, value, np.float32)))


def net(
    *specs: ParameterSpec, returned: Tree = "out", masked: dict[str, float] | None = None
) -> Description:
    """A net with one output."""
    constants = tuple(spec for spec in specs if spec.role == "constant")
    parameters = tuple(spec for spec in specs if spec.role != "constant")
    return Description(parameters, constants, (SCALAR,), returned, masked or {})


def settled(
    folder: Path, mindspore: Description | Lost, torch: Description | Lost, text: str = ""
) -> Nets:
    scenario = load(written(folder, MINIMAL + MINDSPORE_NET + text))
    looks = Described(mindspore=mindspore, torch=torch)
    return settle(scenario, looks, tuple(ENGINES), ENGINES)


def start(nets: Nets) -> dict[str, float]:
    """The first number of each starting value."""
    return {name: float(unpack(value)[0]) for name, value in nets.parameters.items()}


# What every engine is told


@pytest.mark.parametrize(("same_dropout", "draw"), [("", True), ("SAME_DROPOUT = True", False)])
def test_layers_of_one_net_alone_draw_unless_the_scenario_asks_for_masks(
    tmp_path: Path, same_dropout: str, draw: bool
) -> None:
    mindspore = net(spec("fc.weight", 1.0), masked={"drop": 0.5})
    nets = settled(tmp_path, mindspore, net(spec("fc.weight", 2.0)), f"\n{same_dropout}\n")
    for name, request in nets.requests.items():
        assert request.has_own_draws is draw
        assert request.has_masks is (not draw and name.startswith("mindspore"))


def test_each_engine_gets_its_device_and_all_get_one_start(tmp_path: Path) -> None:
    mindspore = net(spec("fc.weight", 1.0, path="fc.kernel"), masked={"drop": 0.5})
    torch = net(spec("fc.weight", 2.0), returned=branch("a", "b"), masked={"drop": 0.5})
    nets = settled(tmp_path, mindspore, torch)
    assert {name: request.device for name, request in nets.requests.items()} == ENGINES
    assert start(nets) == {"fc.weight": 2.0}
    for name, request in nets.requests.items():
        assert request.engine == name
        assert Path(request.scenario) == tmp_path / "given.py"
        assert request.parameters == nets.parameters
        assert request.trainable == ("fc.weight",)
        own = {"fc.kernel": "fc.weight"} if name.startswith("mindspore") else {}
        assert request.names == own
    assert nets.requests["torch-tape"].returned == branch("a", "b")
    assert nets.requests["mindspore-tape"].returned == "out"
    assert all(request.has_masks for request in nets.requests.values())
    assert not any(request.has_own_draws for request in nets.requests.values())
    # One of the nets returns one tensor, which has_aux cannot split.
    assert not nets.has_auxiliary
    assert nets.outputs == 1


def test_the_first_look_is_at_the_tape_on_its_own_device(tmp_path: Path) -> None:
    scenario = load(written(tmp_path, MINIMAL + MINDSPORE_NET))
    looks = Described(mindspore=net(), torch=net())
    nets = settle(scenario, looks, ("mindspore-graph",), {"mindspore-graph": "npu:1"})
    # PyTorch's net gives the start, whoever is asked; where it runs, nobody has said.
    seen = [(kind, request.engine, request.device) for kind, _, request in looks.asked]
    assert seen == [("torch", "torch-tape", "cpu"), ("mindspore", "mindspore-tape", "cpu")]
    assert [target.rpartition(":")[2] for _, target, _ in looks.asked] == ["describe"] * 2
    assert set(nets.requests) == {"mindspore-graph"}

    looks = Described(mindspore=net(), torch=net())
    settle(scenario, looks, tuple(ENGINES), ENGINES)
    assert [request.device for _, _, request in looks.asked] == ["cuda:1", "npu:0"]
    assert {request.scenario for _, _, request in looks.asked} == {str(scenario.path)}


def test_the_other_net_is_not_looked_at_where_the_scenario_gives_the_start(tmp_path: Path) -> None:
    text = MINDSPORE_NET + "def parameters():\n    return {'w': np.ones(2, np.float32)}\n"
    looks = Described(mindspore=net(spec("w", 3.0), spec("b", 4.0)))
    scenario = load(written(tmp_path, MINIMAL + text))
    nets = settle(scenario, looks, ("mindspore-tape",), ENGINES)
    assert start(nets) == {"w": 1.0, "b": 4.0}
    assert [kind for kind, _, _ in looks.asked] == ["mindspore"]


def test_has_aux_can_split_what_both_nets_return_as_tuples(tmp_path: Path) -> None:
    both = net(returned=branch("loss", "logits"))
    assert settled(tmp_path, both, both).has_auxiliary


# A first look that fails


DIED = Lost("crashed", Loss(kind="died", code=-6))
NO_AXIS = Failure("ValueError", "no such axis", "net.py:7")


@pytest.mark.parametrize("look", [DIED, Description(error=NO_AXIS)], ids=["lost", "raises"])
@pytest.mark.parametrize(
    ("failing", "other", "value"), [("mindspore", "torch", 2.0), ("torch", "mindspore", 1.0)]
)
def test_a_first_look_that_fails_leaves_the_other_net_its_own_start(
    failing: Framework, other: Framework, value: float, look: Description | Lost, tmp_path: Path
) -> None:
    looks: dict[Framework, Description | Lost] = {
        "mindspore": net(spec("w", 1.0)),
        "torch": net(spec("w", 2.0)),
        failing: look,
    }
    nets = settled(tmp_path, looks["mindspore"], looks["torch"])
    assert start(nets) == {"w": value}
    assert nets.trainable == ("w",)
    assert nets.findings == ()
    assert set(nets.requests) == set(ENGINES)
    assert nets.without_answer(other) is None
    if isinstance(look, Lost):
        assert nets.lost == {failing: look}
    else:
        assert nets.raised == {failing: NO_AXIS}
        assert nets.without_answer(failing) == Result(outcome="raised", error=NO_AXIS)


def test_where_both_workers_are_lost_there_is_no_start_and_no_output(tmp_path: Path) -> None:
    loss = Lost("timed_out", Loss(kind="no_answer", amount=60))
    nets = settled(tmp_path, loss, loss)
    assert (nets.parameters, nets.trainable, nets.outputs) == ({}, (), 0)
    assert set(nets.lost) == {"mindspore", "torch"}


def test_starting_values_of_a_net_that_raises_are_not_refused(tmp_path: Path) -> None:
    failed = Description(error=Failure("ValueError", "no such axis"))
    text = MINIMAL + "def parameters():\n    return {'only_there': np.ones(2, np.float32)}\n"
    scenario = load(written(tmp_path, text))
    looks = Described(mindspore=net(spec("w", 1.0)), torch=failed)
    nets = settle(scenario, looks, tuple(ENGINES), ENGINES)
    assert set(nets.parameters) == {"only_there", "w"}


VECTOR = OutputSpec((2,), "float32")
COUNT = OutputSpec((), "int32")


@pytest.mark.parametrize(
    ("outputs", "named", "has_one_loss"),
    [
        ((SCALAR, SCALAR), "", False),
        ((SCALAR, SCALAR), "OUTPUTS = ('inside', 'outside')\n", False),
        ((SCALAR, SCALAR), "OUTPUTS = ('loss', 'entropy')\n", True),
        ((SCALAR, VECTOR), "", True),
        ((SCALAR, COUNT), "", True),
    ],
)
def test_the_first_output_alone_is_the_loss_unless_all_outputs_are_losses(
    outputs: tuple[OutputSpec, ...], named: str, has_one_loss: bool, tmp_path: Path
) -> None:
    two = Description(outputs=outputs, returned=branch("a", "b"))
    nets = settled(tmp_path, two, two, named)
    assert nets.has_auxiliary
    assert nets.has_one_loss == has_one_loss


NO_MODULE = "No module named 'absent'"
IN_FORWARD = "the PyTorch net raises when it is created or run forward"
NUMBERS = "the nets return different numbers of outputs"
TWO = Description(outputs=(SCALAR, SCALAR))
LACKS_V = "MindSpore's net has no parameter 'v'"
ONE = net(spec("w", 1.0))
GIVES, OF_SHAPE = (
    "/given.py: parameters() gives 'w', which",
    "/given.py: parameters()['w'] has shape (1, 2)",
)
GIVEN = "def parameters():\n    return {'w': np.full(2, 7, np.float32)}\n"


def failed(kind: str, message: str, source: str = "") -> Description:
    return Description(error=Failure(kind, message, source))


@pytest.mark.parametrize(
    ("mindspore", "torch", "text", "begins", "ends"),
    [
        (failed("ImportError", NO_MODULE), net(), "", "", NO_MODULE),
        (failed("ModuleNotFoundError", NO_MODULE), net(), "", "", NO_MODULE),
        (*[failed("E", "no", "net.py:7")] * 2, "", f"net.py:7: {IN_FORWARD}", "E: no"),
        (*[failed("E", "no")] * 2, "", f"/given.py: {IN_FORWARD}", "E: no"),
        # A mistake of the scenario's own is told as it is.
        (net(), failed(UsageError.__name__, "as it is"), "", "/given.py: as it is", ": as it is"),
        (net(), TWO, "", f"/given.py: {NUMBERS} (1 from MindSpore and 2 from PyTorch);", ""),
        (TWO, net(), "", f"/given.py: {NUMBERS} (2 from MindSpore and 1 from PyTorch);", ""),
        # Names that no net has
        (ONE, ONE, "PARAMETER_NAMES = {'v': 'w'}", f"/given.py: PARAMETER_NAMES: {LACKS_V}", ""),
        (ONE, ONE, "LAYOUTS = {'v': {'squeeze': 0}}", f"/given.py: LAYOUTS: {LACKS_V}", ""),
        (ONE, ONE, "BUFFERS = {'v': None}", "/given.py: BUFFERS: no net has a buffer 'v'", ""),
        # Values that fit no net
        (*[net(spec("ww", 1.0))] * 2, GIVEN, GIVES, "did you mean 'ww'? allowed: ww"),
        (net(), net(), GIVEN, GIVES, "allowed: none"),
        (ONE, ONE, GIVEN.replace("(2, 7", "((1, 2), 7"), OF_SHAPE, "the nets need (2,)"),
    ],
)
def test_what_cannot_be_settled_is_refused(
    mindspore: Description, torch: Description, text: str, begins: str, ends: str, tmp_path: Path
) -> None:
    with pytest.raises(ScenarioError) as caught:
        settled(tmp_path, mindspore, torch, text)
    message = str(caught.value).replace(str(tmp_path), "")
    assert message.startswith(begins)
    assert message.endswith(ends)


def test_a_weight_of_another_name_and_the_only_shape_is_paired(tmp_path: Path) -> None:
    nets = settled(tmp_path, net(spec("v", 1.0)), net(spec("w", 2.0)))
    assert nets.requests["mindspore-tape"].names == {"v": "w"}
    assert start(nets) == {"w": 2.0}
    (remark,) = nets.findings
    assert (remark.kind, remark.names, remark.is_alarm) == ("names", ("w",), False)


# Starting values


def test_pytorch_s_values_are_the_start_but_for_what_each_net_keeps(tmp_path: Path) -> None:
    mindspore = net(
        spec("w", 1.0),
        spec("bn.running_mean", 1.0, "frozen"),
        spec("mask", 1.0, "constant"),
        spec("same", 2.0, "constant"),
        spec("kept", 1.0, "frozen"),
    )
    torch = net(
        spec("w", 2.0),
        spec("bn.running_mean", 2.0, "buffer"),
        spec("mask", 2.0, "buffer"),
        spec("same", 2.0, "buffer"),
        spec("kept", 2.0, "buffer"),
    )
    nets = settled(tmp_path, mindspore, torch, "BUFFERS = {'kept': None}\n")
    # A plain tensor of other values is what the net's own code made it.
    assert start(nets) == {"w": 2.0, "bn.running_mean": 2.0, "same": 2.0}


def test_what_mindspore_alone_trains_begins_as_its_partner_or_as_it_is(tmp_path: Path) -> None:
    lone = ParameterSpec("lone", "lone", "trained", pack(np.full(3, 5, np.float32)))
    mindspore = net(spec("w", 1.0), spec("scale", 1.0), lone)
    torch = net(spec("w", 2.0), spec("scale", 2.0, "constant"))
    nets = settled(tmp_path, mindspore, torch)
    assert start(nets) == {"w": 2.0, "scale": 2.0, "lone": 5.0}
    assert nets.trainable == ("w",)
    assert {finding.names for finding in nets.findings} == {("scale",), ("lone",)}


def test_weights_are_asked_for_in_pytorch_s_order_if_both_nets_train_them(tmp_path: Path) -> None:
    mindspore = net(spec("a", 1.0), spec("b", 1.0), spec("c", 1.0, "frozen"), spec("d", 1.0))
    torch = net(spec("d", 1.0), spec("c", 1.0), spec("b", 1.0, "frozen"), spec("a", 1.0))
    nets = settled(tmp_path, mindspore, torch)
    assert nets.trainable == ("d", "a")
    assert {finding.names for finding in nets.findings} == {("b",), ("c",)}


def test_statistics_of_a_module_with_another_name_are_paired(tmp_path: Path) -> None:
    own = spec("norm.running_mean", 1.0, "frozen", path="norm.moving_mean")
    nets = settled(tmp_path, net(own), net(spec("bn.running_mean", 2.0, "buffer")))
    names = nets.requests["mindspore-tape"].names
    assert names == {"norm.moving_mean": "bn.running_mean"}


def test_values_of_the_scenario_come_before_those_of_the_nets(tmp_path: Path) -> None:
    mindspore = net(spec("w", 1.0), spec("b", 1.0), spec("s", 1.0, "frozen"))
    torch = net(spec("w", 2.0), spec("b", 2.0), spec("s", 2.0, "buffer"))
    nets = settled(tmp_path, mindspore, torch, GIVEN)
    # What it does not give begins as in PyTorch, if it is trained.
    assert start(nets) == {"w": 7.0, "b": 2.0}


def test_values_are_taken_as_they_are_where_both_workers_are_lost(tmp_path: Path) -> None:
    assert start(settled(tmp_path, DIED, DIED, GIVEN)) == {"w": 7.0}


def test_pairs_between_which_nothing_decides_are_taken_and_said_not_to_be_confirmed(
    tmp_path: Path,
) -> None:
    mindspore = net(spec("left.weight", 1.0), spec("right.weight", 1.0))
    torch = net(spec("up.weight", 1.0), spec("gate.weight", 1.0))
    nets = settled(tmp_path, mindspore, torch)
    assert nets.trainable == ("up.weight", "gate.weight")
    (finding,) = nets.findings
    assert isinstance(finding.fact, PairedParameters)
    assert not finding.fact.confirmed
    names = "PARAMETER_NAMES = {'left': 'gate', 'right': 'up'}\n"
    mindspore = net(
        spec("gate.weight", 1.0, path="left.weight"), spec("up.weight", 1.0, path="right.weight")
    )
    assert settled(tmp_path, mindspore, torch, names).findings == ()


def test_lengths_of_one_need_no_layout(tmp_path: Path) -> None:
    def shaped(name: str, *shape: int) -> ParameterSpec:
        return ParameterSpec(name, name, "trained", pack(np.ones(shape, np.float32)))

    mindspore = net(shaped("w", 2, 3, 1, 1), shaped("s", 4))
    torch = net(shaped("w", 2, 3), shaped("s", 1, 1, 4))
    nets = settled(tmp_path, mindspore, torch)
    assert nets.requests["mindspore-tape"].shapes == {"w": (2, 3), "s": (1, 1, 4)}
    assert nets.trainable == ("w", "s")
    assert nets.findings == ()


def test_packed_parameters_start_as_pieces_of_each_other(tmp_path: Path) -> None:
    def rows(name: str, *numbers: float) -> ParameterSpec:
        values = np.array([[number, number] for number in numbers], np.float32)
        return ParameterSpec(name, name, "trained", pack(values))

    mindspore = net(
        spec("common", 1.0),
        rows("a.q.weight", 1, 1),
        rows("a.k.weight", 2, 2),
        rows("b.qk.weight", 3, 3, 3, 4, 4, 4, 4, 5),
    )
    torch = net(
        spec("common", 1.0),
        rows("a.qk.weight", 6, 6, 7, 7),
        rows("b.q.weight", 8, 8, 8),
        rows("b.k.weight", 9, 9, 9, 9, 10),
    )
    nets = settled(tmp_path, mindspore, torch)
    started = {
        name: unpack(value)[:, 0].tolist() for name, value in nets.parameters.items() if "." in name
    }
    assert started == {
        "a.qk.weight": [6, 6, 7, 7],
        "a.qk.weight[0:2]": [6, 6],
        "a.qk.weight[2:4]": [7, 7],
        "b.q.weight": [8, 8, 8],
        "b.k.weight": [9, 9, 9, 9, 10],
        "b.q.weight + b.k.weight": [8, 8, 8, 9, 9, 9, 9, 10],
    }
    assert nets.trainable == ("common", "a.qk.weight", "b.q.weight", "b.k.weight")
    own = nets.requests["mindspore-tape"]
    assert own.trainable == (
        "common",
        "a.qk.weight[0:2]",
        "a.qk.weight[2:4]",
        "b.q.weight + b.k.weight",
    )
    assert nets.requests["torch-tape"].trainable == nets.trainable
    (remark,) = nets.findings
    assert remark.kind == "names"

    led = settled(tmp_path, mindspore, torch, "STARTS_FROM = 'mindspore'\n")
    assert unpack(led.parameters["a.qk.weight"])[:, 0].tolist() == [1, 1, 2, 2]
    assert unpack(led.parameters["b.k.weight"])[:, 0].tolist() == [4, 4, 4, 4, 5]
    given = "def parameters():\n    return {'a.qk.weight': np.full((4, 2), 7, np.float32)}\n"
    of_scenario = settled(tmp_path, mindspore, torch, given)
    assert unpack(of_scenario.parameters["a.qk.weight[2:4]"]).tolist() == [[7, 7]] * 2
