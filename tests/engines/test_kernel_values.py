"""Which kernel's value belongs to which operator of a compiled program."""

from pathlib import Path

import numpy as np
import pytest

from explorer.engines.mindspore.ir import parse
from explorer.engines.mindspore.ir_statements import program
from explorer.engines.mindspore.kernel_values import load
from explorer.engines.mindspore.views import VIEWS, chain_of_views, values_of_views
from explorer.model.arrays import AnyArray
from explorer.model.graph import GradGraph
from tests.support.engine_requests import EngineRequests, compared
from tests.support.ir_texts import RETURN, module_of

MEMORY = np.arange(24.0).reshape(2, 3, 4)


def proven_graph(mindspore: EngineRequests, name: str) -> GradGraph:
    """The graph of the last pass, with all values proven."""
    return compared(mindspore.capture(name, "mindspore-graph", prove="all"))


@pytest.mark.mindspore
@pytest.mark.parametrize(
    "name",
    [
        "ms_products_of_ranks",
        "ms_unit_axes",
        "ms_parts_of_memory",
        "ms_turned_memory",
        "ms_data_filled",
        "ms_sums_of_sizes",
    ],
)
def test_every_operator_yields_the_value_that_it_is_shown_with(
    mindspore: EngineRequests, name: str
) -> None:
    graph = proven_graph(mindspore, name)
    ops = [node for node in graph.nodes if node.kind in ("op", "accumulate")]
    assert len(ops) > 10
    assert [(node.op, node.missing) for node in ops if node.proof != "proven"] == []


@pytest.mark.mindspore
def test_what_data_gives_is_its_operand_and_no_operator_of_its_own(
    mindspore: EngineRequests,
) -> None:
    graph = proven_graph(mindspore, "ms_data_read_later")
    ops = [node for node in graph.nodes if node.kind in ("op", "accumulate")]
    assert "GetData" not in {node.op for node in ops}
    unproven = {(node.op, node.missing["proof"].kind) for node in ops if node.proof != "proven"}
    # Both read memory that is overwritten between its value and the end of the run.
    assert unproven <= {
        ("TensorMove", "overwritten_operand"),
        ("SigmoidGrad", "overwritten_operand"),
    }


@pytest.mark.parametrize(
    ("op", "arguments", "expected"),
    [
        ("BroadcastToView", ((2, -1, 3, 4),), [np.stack([MEMORY, MEMORY])]),
        ("ChunkView", (2, 1), [MEMORY[:, :2], MEMORY[:, 2:]]),
        ("DiagonalView", (1, 1, 2), [MEMORY[:, [0, 1, 2], [1, 2, 3]]]),
        ("ExpandDimsView", (-1,), [MEMORY[..., None]]),
        ("NarrowView", (1, 1, 2), [MEMORY[:, 1:3]]),
        ("SelectExtView", (2, -1), [MEMORY[..., 3]]),
        ("SliceExtView", (2, 1, 4, 2), [MEMORY[..., 1::2]]),
        ("SplitTensorView", (2, 1), [MEMORY[:, :2], MEMORY[:, 2:]]),
        ("SplitWithSizeView", ((1, 3), 2), [MEMORY[..., :1], MEMORY[..., 1:]]),
        ("TransposeExtView", (0, -1), [MEMORY.T]),
        ("TransposeView", ((1, 2, 0),), [np.moveaxis(MEMORY, 0, 2)]),
        ("UnstackExtView", (0,), [MEMORY[0], MEMORY[1]]),
        ("View", ((4, 6),), [MEMORY.reshape(4, 6)]),
    ],
)
def test_a_view_has_the_elements_of_the_operator_s_definition(
    op: str, arguments: tuple[object, ...], expected: list[AnyArray]
) -> None:
    yielded = VIEWS[op](MEMORY, *arguments)
    assert [array.tolist() for array in yielded] == [array.tolist() for array in expected]


def test_a_chain_of_views_is_read_from_the_memory_of_the_first_operand() -> None:
    text = module_of(
        "  %0(a) = PrimFunc_Exp(%para1_x)\n"
        "      : (<Tensor[Float32], (2, 3)>) -> (<Tensor[Float32], (2, 3)>)",
        "  %1(b) = PrimFunc_TransposeView(%0, (I64(1), I64(0)))\n"
        "      : (<Tensor[Float32], (2, 3)>, <null>) -> (<Tensor[Float32], (3, 2)>)",
        "  %2(c) = Load(%1)\n      : (<Tensor[Float32], (3, 2)>) -> (<Tensor[Float32], (3, 2)>)",
        "  %3(d) = PrimFunc_Reshape(%2, (I64(2), I64(3)))\n"
        "      : (<Tensor[Float32], (3, 2)>, <null>) -> (<Tensor[Float32], (2, 3)>)",
        "  %4(e) = PrimFunc_NarrowView(%3, I64(1), I64(0), I64(1))\n"
        "      : (<Tensor[Float32], (2, 3)>, <null>, <null>, <null>) -> (<Tensor[Float32], (2, 1)>)",
        RETURN,
        parameters="%para1_x",
    )
    (statements,) = program(parse(text, "f.ir")).values()
    by_number = {statement.node.index: statement for statement in statements}
    chains = [chain_of_views(by_number[number], by_number) for number in range(5)]
    assert [[link.op for link in chain] for chain in chains] == [
        [],
        ["TransposeView"],
        [],
        ["TransposeView", "Reshape"],
        ["TransposeView", "Reshape", "NarrowView"],
    ]
    memory = np.arange(6.0)
    assert values_of_views(memory, chains[3])[0].tolist() == [[0, 3, 1], [4, 2, 5]]
    assert values_of_views(memory, chains[4])[0].tolist() == [[0], [4]]
    assert values_of_views(memory[:5], chains[4]) == []


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_a_file_with_more_elements_than_its_header_says_is_read_as_a_row(
    tmp_path: Path, dtype: type
) -> None:
    path = tmp_path / "view.npy"
    np.save(path, np.zeros((2, 2), dtype))
    elements: AnyArray = np.arange(6, dtype=dtype)
    path.write_bytes(path.read_bytes()[: -4 * elements.itemsize] + elements.tobytes())
    assert load(path).tolist() == [0, 1, 2, 3, 4, 5]
