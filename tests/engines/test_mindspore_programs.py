"""Programs in MindSpore's IR before they become graphs: statements, constants and dumped values."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.engines.mindspore.ir import read
from explorer.engines.mindspore.ir.records import TensorValue
from explorer.engines.mindspore.ir_statements import (
    IRStatement,
    elements,
    needed_by_outputs,
    program,
    reached,
)
from explorer.engines.mindspore.kernel_values import (
    DumpedOutput,
    Kernel,
    KernelValues,
    kernels_in,
    last_of_shares,
    load,
    make_room,
)
from explorer.engines.mindspore.operators import may_write, unwritten_outputs, written_operands
from explorer.model.arrays import AnyArray
from explorer.model.graph import Absence
from tests.support.ir_texts import SAMPLES

PRODUCT = "Default/MatMul-op1"
PRODUCT_FILE = "MatMul.Default_MatMul-op{number}.0.0.{time}.output.{slot}.DefaultFormat.float32.npy"


def statements_of(name: str) -> list[IRStatement]:
    """The statements of the entry of a sample."""
    module = read(SAMPLES / f"{name}.ir")
    return program(module)[module.entry]


def by_name(statements: list[IRStatement], full_name: str) -> IRStatement:
    (only,) = (statement for statement in statements if statement.full_name == full_name)
    return only


def dump(folder: Path, array: AnyArray, number: int = 1, time: int = 1, slot: int = 0) -> None:
    np.save(folder / PRODUCT_FILE.format(number=number, time=time, slot=slot), array)


# Statements


def test_a_statement_knows_its_outputs_and_whether_it_belongs_to_backward() -> None:
    statements = statements_of("dense_validate")
    forward = by_name(statements, PRODUCT)
    backward = by_name(statements, "Gradients/Default/Grad_MatMul/MatMul-op0")
    assert forward.outputs == (((1, 1), "float32"),)
    assert (forward.marked_backward, backward.marked_backward) == (False, True)


def test_the_lines_of_a_statement_are_calls_and_no_heads_of_functions() -> None:
    lines = by_name(statements_of("dense_validate"), PRODUCT).lines
    assert ("nets_ir.py", 14) in lines
    assert ("site-packages/mindspore/ops/function/array_func.py", 2034) not in lines


def test_every_branch_is_reached_from_the_entry_and_comes_after_its_caller() -> None:
    module = read(SAMPLES / "branch_validate.ir")
    graphs = reached(program(module), module.entry)
    assert graphs[0] == module.entry
    assert set(graphs) == set(module.by_name())


def test_the_outputs_of_a_net_need_no_statement_of_backward() -> None:
    statements = statements_of("dense_validate")
    needed = needed_by_outputs(statements)
    assert not any(statements[number].marked_backward for number in needed)


# Constants


@pytest.mark.parametrize(
    ("text", "shape", "values"),
    [
        ("1", (), 1.0),
        ("[1 -2.5]", (2,), [1.0, -2.5]),
        ("\n[[1e-05]\n [inf]]", (2, 1), [[1e-05], [np.inf]]),
        ("[True False]", (2,), [1.0, 0.0]),
    ],
)
def test_the_elements_of_a_printed_tensor(
    text: str, shape: tuple[int, ...], values: object
) -> None:
    array = elements(TensorValue(shape, "Float32", text))
    assert array is not None
    assert array.tolist() == values


@pytest.mark.parametrize("text", ["[1 2 ... 9]", "<uninitialized>", "[1]"])
def test_a_tensor_that_is_not_written_out_has_no_elements(text: str) -> None:
    assert elements(TensorValue((3,), "Float32", text)) is None


# Dumped values


def test_kernels_are_in_the_order_of_their_numbers_and_the_last_run_counts(tmp_path: Path) -> None:
    dump(tmp_path, np.zeros(1), number=10)
    dump(tmp_path, np.ones(1), number=9, time=5)
    dump(tmp_path, np.zeros(1), number=9, time=4)
    (tmp_path / "notes.output.txt").touch()
    first, second = kernels_in([tmp_path])["Default_MatMul"]
    assert load(first[0].path).tolist() == [1.0]
    assert load(second[0].path).tolist() == [0.0]
    assert (first[0].runs, second[0].runs) == (2, 1)


def test_earlier_values_are_left_until_they_take_much_room(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    for folder in (first, second):
        folder.mkdir()
        dump(folder, np.zeros(8, np.float64), number=1)
    size = sum(path.stat().st_size for path in tmp_path.rglob("*.npy"))
    make_room([first, second], size)
    assert len(kernels_in([first])) == len(kernels_in([second])) == 1
    make_room(iter([first, second]), size - 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("named", "held"), [(np.float64, np.float32), (np.float16, np.float32), (np.int64, np.int32)]
)
def test_a_type_under_the_name_of_another_is_read_as_what_it_is(
    named: type, held: type, tmp_path: Path
) -> None:
    path = tmp_path / "array.npy"
    np.save(path, np.zeros(2, named))
    header = path.read_bytes()[:128]
    path.write_bytes(header + np.array([3, -2], held).tobytes())
    assert load(path).tolist() == [3, -2]


def test_bfloat16_is_read_as_float32(tmp_path: Path) -> None:
    path = tmp_path / "array.npy"
    np.save(path, np.zeros(2, np.float16))
    header = path.read_bytes()[:128].replace(b"<f2", b"<E2")
    upper_halves = np.array([1.5, -2.0], np.float32).view(np.uint32) >> 16
    path.write_bytes(header + upper_halves.astype(np.uint16).tobytes())
    assert load(path).tolist() == [1.5, -2.0]


def values_of(folder: Path) -> tuple[KernelValues, IRStatement]:
    """The dumped values of a sample, and the statement of its forward product."""
    module = read(SAMPLES / "dense_validate.ir")
    statements = program(module)
    values = KernelValues(kernels_in([folder]), statements)
    return values, by_name(statements[module.entry], PRODUCT)


def test_a_statement_has_the_values_of_the_kernel_in_its_scope(tmp_path: Path) -> None:
    dump(tmp_path, np.full((1, 1), 20, np.float32), number=731)
    values, product = values_of(tmp_path)
    assert values.of(product)[0].tolist() == [[20.0]]
    (output,), missing = values.outputs(product)
    assert output.values is not None
    assert missing == {}


def test_a_kernel_of_another_size_is_no_statements_own(tmp_path: Path) -> None:
    dump(tmp_path, np.zeros((7,), np.float32))
    values, product = values_of(tmp_path)
    assert values.of(product) == {}
    _, missing = values.outputs(product)
    assert missing["values"] == Absence("fused_kernel")


def test_an_output_of_another_size_costs_the_others_nothing(tmp_path: Path) -> None:
    dump(tmp_path, np.full((1, 1), 20, np.float32))
    dump(tmp_path, np.zeros((7,), np.float32), slot=1)
    module = read(SAMPLES / "dense_validate.ir")
    statements = program(module)
    product = by_name(statements[module.entry], PRODUCT)
    # As an LSTM, whose workspace has a placeholder shape in the IR.
    two_outputs = replace(product, outputs=(*product.outputs, ((1, 1), "float32")))
    values = KernelValues(kernels_in([tmp_path]), {module.entry: [two_outputs]})
    assert list(values.of(two_outputs)) == [0]


def kernels_at(*times: int) -> list[Kernel]:
    """Kernels of one kind with one output each, written at these times."""
    return [{0: DumpedOutput(time, Path(f"{time}.npy"))} for time in times]


def times_of(kernels: list[Kernel]) -> list[int]:
    return [kernel[0].time for kernel in kernels]


def test_the_kernel_of_a_share_that_ran_last_gives_the_value() -> None:
    # Softmax backward: a product, its sum, a difference, and another product.
    products, sums, differences = kernels_at(1, 4, 11, 14), kernels_at(2, 12), kernels_at(3, 13)
    kinds = {"Sub": differences, "Mul": products, "ReduceSum": sums}
    assert times_of(last_of_shares(kinds, 2)) == [4, 14]
    assert times_of(last_of_shares({"Mul": kernels_at(1, 2)}, 1)) == [2]
    assert last_of_shares({}, 3) == []


def test_statements_that_were_expanded_differently_have_no_value() -> None:
    assert last_of_shares({"Mul": kernels_at(1, 2), "Sub": kernels_at(3, 4, 5)}, 2) == []
    # The counts divide, but one statement would end with another kind than the other.
    assert last_of_shares({"Mul": kernels_at(1, 4), "Sub": kernels_at(2, 3)}, 2) == []


def test_a_cast_before_some_statements_alone_takes_no_value_from_them() -> None:
    first, second, sums = kernels_at(1), kernels_at(3), kernels_at(2, 4)
    assert times_of(last_of_shares({"Cast": first, "ReduceSum": sums}, 2)) == [2, 4]
    assert times_of(last_of_shares({"Cast": second, "ReduceSum": sums}, 2)) == [2, 4]


def test_a_step_between_two_kernels_leaves_open_which_statement_it_is_of() -> None:
    # By two bounds and then by one, or the other way round: the kernels are the same.
    kinds = {"Maximum": kernels_at(1, 3), "Minimum": kernels_at(2)}
    assert last_of_shares(kinds, 2) == [{}, *kernels_at(3)]
    before = {"Maximum": kernels_at(2, 3), "Minimum": kernels_at(1)}
    assert times_of(last_of_shares(before, 2)) == [2, 3]


# Operators


def test_batch_norm_writes_its_statistics_in_training_alone() -> None:
    assert unwritten_outputs("BatchNorm", [True]) == (1, 2)
    assert unwritten_outputs("BatchNorm", [False]) == (1, 2, 3, 4)
    assert unwritten_outputs("MatMul", [False, True]) == ()


def test_batch_norm_changes_its_statistics_alone_and_an_assignment_anything() -> None:
    operands = ["x", "gamma", "beta", "mean", "variance"]
    assert operands[written_operands("BatchNorm") or slice(0)] == ["mean", "variance"]
    assert operands[written_operands("AssignAdd") or slice(0)] == operands
    assert written_operands("MatMul") is None


@pytest.mark.parametrize("op", ["BatchNormExt", "InplaceCopy", "ScatterAdd", "copy_"])
def test_variants_of_operators_that_write_may_write(op: str) -> None:
    assert may_write(op)
    assert not may_write("MatMul")
