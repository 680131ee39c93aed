"""Operators of MindSpore computed again, alone, as trials say: on the tape, and of compiled graphs."""

from collections.abc import Callable

import numpy as np
import pytest

from explorer.model.arrays import AnyArray, pack, unpack
from explorer.model.causes import LEFT_OUT, InputChange, Trial, TrialsRequest, Tried
from explorer.model.engines import ENGINES
from explorer.model.graph import GradGraph, Node, Output
from explorer.model.requests import CaseRequest
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.engine_requests import EngineRequests, path, reply

pytestmark = pytest.mark.mindspore

NET = "ms_tried_operators"
TARGET = "explorer.engines.mindspore.trials:try_out"


@pytest.fixture(params=["mindspore-tape", "mindspore-graph"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Tries:
    """What operators of the net's graph give in trials."""

    def __init__(self, workers: Workers, engine: str) -> None:
        self._requests = EngineRequests(workers, "mindspore")
        self._engine = engine
        self.graph: GradGraph = self._requests.capture(NET, engine).graphs[-1]

    def node(self, op: str) -> Node:
        """The only node of forward with that op."""
        (node,) = [node for node in self.graph.nodes if (node.op, node.phase) == (op, "forward")]
        return node

    def value(self, of: str, **changes: object) -> AnyArray:
        """The first output of an op in a trial."""
        (outputs,) = self.outputs(of, **changes)
        return array(outputs[0])

    def outputs(self, of: str, **changes: object) -> tuple[tuple[Output, ...], ...]:
        """The outputs of an op in a trial."""
        trial = Trial(self.node(of).id, **changes)  # type: ignore[arg-type]  # a trial's own fields
        case = self._requests.widest(NET)
        request = TrialsRequest(CaseRequest(self._requests.net(NET, self._engine), case), (trial,))
        kind = ENGINES[self._engine].captures_in
        return reply(self._requests.workers.call(kind, TARGET, request, Tried)).outputs


def array(output: Output) -> AnyArray:
    assert output.values is not None
    assert output.values.whole is not None
    return unpack(output.values.whole)


@pytest.fixture
def tries(workers: Workers, engine: str) -> Tries:
    return Tries(workers, engine)


def softmax(values: AnyArray, axis: int) -> AnyArray:
    powers = np.exp(values - values.max(axis, keepdims=True))
    shares: AnyArray = powers / powers.sum(axis, keepdims=True)
    return shares


X, Y = load(path(NET)).inputs().values()


def test_nothing_changed_gives_what_was_recorded(tries: Tries) -> None:
    for op in ("Softmax", "Sub", "ReLU"):
        assert np.array_equal(tries.value(op), array(tries.node(op).outputs[0]))


def test_an_argument_takes_another_value_whether_it_is_an_operand_or_an_attribute(
    tries: Tries,
) -> None:
    assert tries.value("Softmax", arguments={"axis": (0,)}) == pytest.approx(softmax(X, 0))
    summed = tries.value("CumSum", arguments={"axis": 0, "reverse": True})
    assert summed == pytest.approx(np.cumsum(X[::-1], 0)[::-1])
    scaled = tries.value("L2Normalize", arguments={"axis": (0,)})
    assert scaled == pytest.approx(X / np.linalg.norm(X, axis=0))


def test_what_the_operator_refuses_or_does_not_have_gives_nothing(tries: Tries) -> None:
    for arguments in ({"axis": (7,)}, {"unknown": 1}, {"axis": "none"}):
        assert tries.outputs("Softmax", arguments=arguments) == ((),)


CHANGES: dict[str, tuple[InputChange, Callable[[AnyArray, AnyArray], AnyArray]]] = {
    "swapped": (InputChange((0, 1), "swapped"), lambda x, y: y - x),
    "scaled": (InputChange((1,), "scaled", (2.0,)), lambda x, y: x - 2 * y),
    "reversed": (InputChange((0,), "reversed", (1.0,)), lambda x, y: x[:, ::-1] - y),
    "rolled": (InputChange((0,), "rolled", (1.0, 1.0)), lambda x, y: np.roll(x, 1, 1) - y),
    "rounded": (
        InputChange((0,), "rounded", dtype="float16"),
        lambda x, y: x.astype(np.float16).astype(np.float32) - y,
    ),
}


@pytest.mark.parametrize("how", CHANGES)
def test_inputs_are_changed_before_the_operator_runs(how: str, tries: Tries) -> None:
    change, expected = CHANGES[how]
    assert tries.value("Sub", inputs=(change,)) == pytest.approx(expected(X, Y), rel=1e-6)


def test_an_input_is_transposed(tries: Tries) -> None:
    change = InputChange((0,), "transposed", (0.0, 1.0))
    transposed = tries.value("ReLU", inputs=(change,))
    assert np.array_equal(transposed, np.maximum(Y, 0).T)


def test_another_operator_or_function_takes_what_it_knows_of_the_arguments(tries: Tries) -> None:
    logarithms = tries.value("Softmax", op="LogSoftmax")
    assert logarithms == pytest.approx(np.log(softmax(X, 1)), abs=1e-5)
    assert tries.value("ReLU", op="Tanh") == pytest.approx(np.tanh(Y), abs=1e-6)
    leaky = tries.value("ReLU", op="ops.leaky_relu")
    assert leaky == pytest.approx(np.where(Y > 0, Y, 0.2 * Y))


def test_what_batch_norm_writes_comes_last_and_each_trial_begins_with_what_was_recorded(
    tries: Tries,
) -> None:
    for momentum in (0.25, 1.0):
        (outputs,) = tries.outputs("BatchNorm", arguments={"momentum": momentum})
        mean, variance = map(array, outputs[-2:])
        expected = momentum * X.mean(0)
        assert mean == pytest.approx(expected, abs=1e-6)
        assert variance == pytest.approx(1 - momentum + momentum * X.var(0, ddof=1))


def test_one_that_is_left_out_hands_its_input_on(tries: Tries) -> None:
    assert np.array_equal(tries.value("Softmax", op=LEFT_OUT), X)


def test_a_value_of_the_other_side_is_given_in_the_shape_of_an_input(tries: Tries) -> None:
    given = InputChange((1,), "given", value=pack(2 * Y.ravel()))
    assert tries.value("Sub", inputs=(given,)) == pytest.approx(X - 2 * Y)
    small = InputChange((1,), "given", value=pack(Y.ravel()[1:]))
    assert tries.outputs("Sub", inputs=(small,)) == ((),)


def test_an_operator_that_nobody_knows_gives_nothing(tries: Tries) -> None:
    assert tries.outputs("Sub", op="NoSuchOperator") == ((),)
    assert tries.outputs("Sub", op="ops.no_such_function") == ((),)


def test_a_graph_that_is_not_held_is_captured_again(tries: Tries, workers: Workers) -> None:
    before = tries.value("Softmax", arguments={"axis": (0,)})
    EngineRequests(workers, "mindspore").capture("ms_dense", "mindspore-graph")
    assert np.array_equal(tries.value("Softmax", arguments={"axis": (0,)}), before)
