"""Proofs of values on graphs made by hand: what refutes a node, what excuses it, who is to blame."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from explorer.engines.capture.builder import GraphBuilder
from explorer.engines.capture.proof import MOST_NODES, GraphValues, Operand, Rerun, agrees, prove
from explorer.engines.failures import Statement
from explorer.model.arrays import AnyArray
from explorer.model.failures import Failure
from explorer.model.graph import Absence, Output
from explorer.numeric.summaries import summarise
from tests.support.narrowing import of_type, present

X = np.array([3.0, -2.0, 0.5], np.float32)

NO_KERNEL = Failure("RuntimeError", "no such kernel")
WRITTEN_IN_PART = Absence("written_in_part")


def shown(array: AnyArray) -> Output:
    return Output(array.shape, array.dtype.name, summarise(array))


class Chain:
    """x, then its double, then the square of that; values and reruns can be changed."""

    def __init__(self) -> None:
        self.builder = GraphBuilder()
        self.recorded = GraphValues(np.asarray, np.copy)
        leaf = self.builder.add("input", "input", "forward", outputs=(shown(X),))
        self.recorded.outputs[leaf, 0] = X
        self.double = self.op("double", leaf, lambda value: 2 * value)
        self.square = self.op("square", self.double, lambda value: value * value)

    def op(self, name: str, origin: int, function: Callable[[Any], Any]) -> int:
        value = self.recorded.outputs[origin, 0]
        result = function(value)
        number = self.builder.add(name, "op", "forward", ((origin, 0),), outputs=(shown(result),))
        self.recorded.outputs[number, 0] = result
        operands = (Operand((origin, 0), value),)
        self.recorded.reruns[number] = Rerun(operands, lambda values: [function(values[0])])
        return number

    def rerun(self, number: int) -> Rerun:
        return of_type(Rerun, self.recorded.reruns[number])

    def spoil(self, number: int, factor: float) -> None:
        """Record something else than a node yields, which its readers are said to have read."""
        wrong = self.recorded.outputs[number, 0] * np.float32(factor)
        self.recorded.outputs[number, 0] = wrong
        for reader in self.recorded.reruns:
            rerun = self.rerun(reader)
            (operand,) = rerun.operands
            if operand.slot == (number, 0):
                operand = Operand(operand.slot, wrong)
            self.recorded.reruns[reader] = Rerun((operand,), rerun.compute, excuse=rerun.excuse)

    def proofs(self) -> list[str]:
        prove(self.builder, self.recorded)
        return [self.builder.nodes[number].proof for number in (self.double, self.square)]

    def reason(self, number: int) -> Absence | None:
        return self.builder.nodes[number].missing.get("proof")


def test_what_an_op_yields_again_is_proven() -> None:
    assert Chain().proofs() == ["proven", "proven"]


@pytest.mark.parametrize("factor", [1.01, 1.001, 0.999])
@pytest.mark.parametrize("spoiled", [("double",), ("square",), ("double", "square")])
def test_a_wrong_value_is_refuted_where_it_stands_and_not_where_it_is_read(
    spoiled: tuple[str, ...], factor: float
) -> None:
    chain = Chain()
    for name in spoiled:
        chain.spoil(getattr(chain, name), factor)
    expected = ["refuted" if name in spoiled else "proven" for name in ("double", "square")]
    assert chain.proofs() == expected


def test_a_node_that_cannot_be_proven_says_why() -> None:
    chain = Chain()
    chain.recorded.reruns[chain.double] = Absence("random")
    compute = chain.rerun(chain.square).compute
    chain.recorded.reruns[chain.square] = Rerun((Operand(None, None),), compute)
    assert chain.proofs() == ["unproven", "unproven"]
    assert chain.reason(chain.double) == Absence("random")
    assert chain.reason(chain.square) == Absence("no_input")


def test_a_value_that_nobody_saw_and_an_op_without_a_tensor_are_unproven() -> None:
    chain = Chain()
    del chain.recorded.outputs[chain.double, 0]
    chain.builder.nodes[chain.square].outputs = ()
    assert chain.proofs() == ["unproven", "unproven"]
    assert chain.reason(chain.double) == Absence("no_value")
    assert chain.reason(chain.square) == Absence("no_tensor")


@pytest.mark.parametrize(
    ("factor", "proof", "reason"),
    [(1.0, "proven", None), (1.01, "unproven", Absence("overwritten_operand"))],
)
def test_an_excuse_saves_a_node_from_being_refuted_and_from_nothing_else(
    factor: float, proof: str, reason: Absence | None
) -> None:
    chain = Chain()
    rerun = chain.rerun(chain.square)
    excused = Rerun(rerun.operands, rerun.compute, excuse="overwritten_operand")
    chain.recorded.reruns[chain.square] = excused
    chain.spoil(chain.square, factor)
    assert chain.proofs() == ["proven", proof]
    assert chain.reason(chain.square) == reason


def test_an_op_that_yields_other_values_each_time_is_unproven_and_not_refuted() -> None:
    # As a sum of no elements, for which MindSpore returns what the memory had before (2.10.0).
    chain = Chain()
    runs: list[float] = []

    def other_each_time(values: list[Any]) -> list[Any]:
        runs.append(1.0)
        return [values[0] * len(runs)]

    operands = chain.rerun(chain.square).operands
    chain.recorded.reruns[chain.square] = Rerun(operands, other_each_time)
    assert chain.proofs() == ["proven", "unproven"]
    assert chain.reason(chain.square) == Absence("unsteady")


@pytest.mark.parametrize(
    "message", ["no such kernel\nand a screenful", "-----\n- internals\n-----\nno such kernel"]
)
def test_an_op_that_fails_alone_is_unproven_with_what_the_engine_makes_of_its_message(
    message: str,
) -> None:
    def fails(values: list[Any]) -> list[Any]:
        raise RuntimeError(message)

    chain = Chain()
    chain.recorded.reruns[chain.double] = Rerun((Operand(None, X),), fails)
    if message.startswith("-"):
        chain.recorded.stated = lambda text: Statement(text.rpartition("-----\n")[2])
    assert chain.proofs() == ["unproven", "proven"]
    assert chain.reason(chain.double) == Absence("raises_alone", error=NO_KERNEL)


def test_what_an_op_writes_is_proven_on_copies_of_its_operands() -> None:
    def add_one(values: list[Any]) -> list[Any]:
        values[0] += 1
        return [values[0] * 2]

    for after, proof in ((X + 1, "proven"), ((X + 1) * np.float32(1.001), "refuted")):
        chain = Chain()
        written = chain.double, 1
        node = chain.builder.nodes[chain.double]
        result = (X + 1) * 2
        node.outputs = (shown(result), shown(after))
        chain.recorded.outputs.update({(chain.double, 0): result, written: after})
        chain.recorded.overwritten[written] = (0, 0)
        operands = (Operand((0, 0), X),)
        chain.recorded.reruns[chain.double] = Rerun(operands, add_one, writes=True)
        assert chain.proofs()[0] == proof
        assert X.tolist() == [3.0, -2.0, 0.5]


@pytest.mark.parametrize(("factor", "proof"), [(1.0, "unproven"), (1.01, "refuted")])
def test_a_tensor_of_which_an_op_writes_a_part_is_unproven_and_its_own_output_is_not(
    factor: float, proof: str
) -> None:
    chain = Chain()
    whole = np.arange(5, dtype=np.float32)
    node = chain.builder.nodes[chain.double]
    node.outputs = (*node.outputs, shown(whole))
    chain.recorded.outputs[chain.double, 1] = whole
    chain.recorded.in_part.add((chain.double, 1))
    chain.spoil(chain.double, factor)
    prove(chain.builder, chain.recorded)
    assert node.proof == proof
    assert node.missing.get("proof") == (WRITTEN_IN_PART if proof == "unproven" else None)


@pytest.mark.slow
def test_a_large_graph_is_proven_only_on_demand() -> None:
    chain = Chain()
    for _ in range(MOST_NODES):
        chain.op("double", 0, lambda value: 2 * value)
    assert set(chain.proofs()) == {"unproven"}
    assert chain.reason(chain.double) == Absence("large_graph", str(MOST_NODES))
    prove(chain.builder, chain.recorded, everything=True)
    assert chain.builder.nodes[chain.double].proof == "proven"


@pytest.mark.parametrize(
    ("dtype", "within", "beyond"),
    [("float64", 5e-13, 2e-12), ("float32", 5e-6, 2e-5), ("float16", 0.0, 1e-3)],
)
def test_the_tolerance_is_about_the_rounding_of_an_op_at_the_scale_of_its_tensor(
    dtype: str, within: float, beyond: float
) -> None:
    exact = np.array([1.0, 1e-6], dtype)
    assert agrees(exact + np.array(within, dtype), exact, dtype)
    assert not agrees(exact + np.array(beyond, dtype), exact, dtype)


def test_integers_and_what_is_not_finite_must_be_the_same() -> None:
    assert agrees(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), "float64")
    assert not agrees(np.array([np.nan, 1.0]), np.array([1.0, 1.0]), "float64")
    assert not agrees(np.array([np.inf]), np.array([-np.inf]), "float64")
    assert not agrees(np.array([1_000_000]), np.array([1_000_001]), "int64")
    assert not agrees(np.zeros(2), np.zeros((2, 1)), "float64")


def test_in_half_precision_the_last_place_of_an_operand_may_be_lost_and_no_more() -> None:
    # 1024 + 0.5 - 1024: what the sum was computed from may have been rounded by half a unit each.
    exact, rounded = np.array([0.5]), np.array([0.0])
    assert not agrees(rounded, exact, "float16")
    assert agrees(rounded, exact, "float16", reach=1024.0)
    assert not agrees(np.array([2.0]), exact, "float16", reach=1024.0)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64"])
def test_in_other_precisions_a_great_operand_excuses_no_small_result(dtype: str) -> None:
    # 1e6 + 0.5 - 1e6: single precision has room for all three, and yields 0.5.
    exact, wrong = np.array([0.5], dtype), np.array([0.0], dtype)
    assert not agrees(wrong, exact, dtype, reach=1e6)
    assert agrees(exact, exact, dtype, reach=1e6)


def two_of_a_kind(
    factors: tuple[float, float], shown_by: tuple[int, int]
) -> tuple[Chain, list[int]]:
    """A chain with two more nodes of one op that multiply x, each recorded with the result of one."""
    chain = Chain()
    first, second = factors
    numbers = [
        chain.op("times", 0, lambda value: np.float32(first) * value),
        chain.op("times", 0, lambda value: np.float32(second) * value),
    ]
    results = [chain.recorded.outputs[number, 0] for number in numbers]
    for number, place in zip(numbers, shown_by, strict=True):
        chain.recorded.outputs[number, 0] = results[place]
        chain.builder.nodes[number].outputs = (shown(results[place]),)
    return chain, numbers


def settled(chain: Chain, numbers: list[int]) -> list[tuple[str, float]]:
    """The proof of some nodes, and the first element that each shows."""
    prove(chain.builder, chain.recorded)
    found: list[tuple[str, float]] = []
    for number in numbers:
        node = chain.builder.nodes[number]
        values = present(node.outputs[0].values)
        found.append((node.proof, round(values.mean, 4)))
    return found


def mean_of(factor: float) -> float:
    return round(factor * float(X.mean()), 4)


def test_values_of_two_like_nodes_that_were_taken_for_each_other_are_put_right() -> None:
    chain, numbers = two_of_a_kind((3.0, 5.0), (1, 0))
    chain.recorded.may_be_swapped = True
    assert settled(chain, numbers) == [("proven", mean_of(3)), ("proven", mean_of(5))]


@pytest.mark.parametrize(
    ("is_order_known", "op", "recorded", "shown_means"),
    [
        (True, "times", 5, (5, 3)),
        (False, "other", 5, (5, 3)),
        # A value that belongs to none of them.
        (False, "times", 7, (7, 3)),
    ],
)
def test_a_value_is_given_to_no_node_that_it_cannot_belong_to(
    is_order_known: bool, op: str, recorded: float, shown_means: tuple[float, float]
) -> None:
    chain, numbers = two_of_a_kind((3.0, 5.0), (1, 0))
    chain.recorded.may_be_swapped = not is_order_known
    chain.builder.nodes[numbers[1]].op = op
    chain.recorded.outputs[numbers[0], 0] = recorded * X
    chain.builder.nodes[numbers[0]].outputs = (shown(recorded * X),)
    assert settled(chain, numbers) == [("refuted", mean_of(factor)) for factor in shown_means]


@pytest.mark.parametrize(("late", "proof"), [(True, "proven"), (False, "refuted")])
@pytest.mark.parametrize("function", [lambda value: value**12, lambda value: np.exp(6 * value)])
def test_an_op_may_read_a_half_precision_number_before_its_rounding_in_a_graph_that_rounds_late(
    late: bool, proof: str, function: Callable[[Any], Any]
) -> None:
    before = np.array([1.2427, -0.6417, 1.0177], np.float32)
    rounded = before.astype(np.float16)
    builder, recorded = GraphBuilder(), GraphValues(np.asarray, np.copy, rounds_late=late)
    recorded.value_of = lambda value, dtype: value.astype(dtype)
    leaf = builder.add("input", "input", "forward", outputs=(shown(rounded),))
    read = function(before).astype(np.float16)
    number = builder.add("op", "op", "forward", ((leaf, 0),), outputs=(shown(read),))
    recorded.outputs.update({(leaf, 0): rounded, (number, 0): read})
    operands = (Operand((leaf, 0), rounded),)

    def compute(values: list[Any]) -> list[Any]:
        return [function(values[0].astype(np.float32)).astype(np.float16)]

    recorded.reruns[number] = Rerun(operands, compute)
    prove(builder, recorded)
    assert builder.nodes[number].proof == proof

    # It is no number's that is rounded to the recorded one.
    recorded.outputs[number, 0] = (read * np.float32(1.02)).astype(np.float16)
    prove(builder, recorded)
    assert builder.nodes[number].proof == "refuted"
