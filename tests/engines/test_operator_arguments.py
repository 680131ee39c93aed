"""What nodes say of their ops' arguments, and graphs of the settings of their layers."""

import pytest

from explorer.model.cases import GradCase
from explorer.model.graph import Absence, Arguments, GradGraph, Layer
from explorer.workers.workers import Workers
from tests.support.engine_requests import compared, requests_of
from tests.support.ir_texts import RETURN, module_of, statement
from tests.support.worker_targets import Word

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

NET = "set_layers"

ENGINES = ("torch-tape", "torch-graph", "mindspore-tape", "mindspore-graph")


@pytest.fixture(scope="module")
def graphs(workers: Workers) -> dict[str, GradGraph]:
    """The graph of each engine of the net."""
    return {engine: captured(workers, engine, NET) for engine in ENGINES}


def captured(workers: Workers, engine: str, net: str, case: GradCase | None = None) -> GradGraph:
    return compared(requests_of(workers, engine).capture(net, engine, case))


def arguments(graph: GradGraph, op: str) -> list[Arguments]:
    """Those of all nodes with an operator."""
    return [node.arguments for node in graph.nodes if node.op == op]


@pytest.mark.parametrize("engine", ["torch-tape", "torch-graph"])
def test_an_op_of_pytorch_has_the_arguments_of_its_schema_with_defaults(
    graphs: dict[str, GradGraph], engine: str
) -> None:
    graph = graphs[engine]
    (conv,) = arguments(graph, "aten.convolution.default")
    assert conv == {
        "bias": None,
        "stride": (2, 2),
        "padding": (1, 1),
        "dilation": (1, 1),
        "transposed": False,
        "output_padding": (0, 0),
        "groups": 1,
    }
    assert arguments(graph, "aten.gelu.default") == [{"approximate": "tanh"}]
    assert arguments(graph, "aten.gelu_backward.default") == [{"approximate": "tanh"}]
    (pool,) = arguments(graph, "aten.avg_pool2d.default")
    assert pool["count_include_pad"] is True  # which nobody gave
    assert (pool["kernel_size"], pool["stride"]) == ((2, 2), (1, 1))
    assert {"dim": (0, 3), "keepdim": True, "dtype": None} in arguments(
        graph, "aten.sum.dim_IntList"
    )


@pytest.mark.parametrize("engine", ["mindspore-tape", "mindspore-graph"])
def test_an_op_of_mindspore_has_the_arguments_of_its_class(
    graphs: dict[str, GradGraph], engine: str
) -> None:
    graph = graphs[engine]
    (conv,) = arguments(graph, "Conv2D")
    assert conv["pad_mode"] == "pad"
    assert conv["pad"] == (1, 1, 1, 1)
    assert conv["kernel_size"] == (3, 3)
    assert conv["stride"] == (1, 1, 2, 2)
    (norm,) = arguments(graph, "BatchNorm")
    assert norm["is_training"] is True
    assert norm["epsilon"] == pytest.approx(2e-3)
    assert norm["momentum"] == pytest.approx(0.3)  # the layer hands on 1 less its own
    assert norm["data_format"] == "NCHW"
    (pool,) = arguments(graph, "AvgPool")
    assert pool["pad_mode"] == "valid"
    (softmax,) = arguments(graph, "Softmax")
    assert softmax == {"axis": (1,)}


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_missing_without_a_reason(graphs: dict[str, GradGraph], engine: str) -> None:
    ops = [node for node in graphs[engine].nodes if node.kind == "op"]
    assert ops
    assert [node.op for node in ops if "arguments" in node.missing] == []


@pytest.mark.parametrize("engine", ["mindspore-tape", "mindspore-graph"])
def test_a_layer_of_mindspore_has_what_its_constructor_was_given(
    graphs: dict[str, GradGraph], engine: str
) -> None:
    layers = graphs[engine].layers
    conv = layers["conv"].settings
    assert layers["conv"].name == "nn.Conv2d"
    assert (conv["stride"], conv["pad_mode"], conv["padding"]) == (2, "pad", 1)
    assert conv["has_bias"] is False
    # What a subclass hands on to the layer; its own parameters are no settings of the layer.
    assert layers["norm"].name == "nn.BatchNorm2d"
    assert layers["norm"].settings["momentum"] == 0.7
    assert layers["norm"].settings["eps"] == 2e-3
    assert layers["norm"].settings["affine"] is True
    assert layers["act"] == Layer("nn.GELU", {"approximate": True})


@pytest.mark.parametrize("engine", ["torch-tape", "torch-graph"])
def test_a_layer_of_pytorch_has_what_its_constructor_was_given(
    graphs: dict[str, GradGraph], engine: str
) -> None:
    layers = graphs[engine].layers
    assert layers["conv"].settings["bias"] is False
    assert layers["norm"].name == "nn.BatchNorm2d"
    assert layers["norm"].settings["momentum"] == 0.3
    assert layers["act"] == Layer("nn.GELU", {"approximate": "tanh"})


def test_a_gradient_that_no_operator_is_reported_for_has_the_arguments_of_what_it_differentiates(
    graphs: dict[str, GradGraph],
) -> None:
    graph = graphs["mindspore-tape"]
    backward = [node for node in graph.nodes if node.op == "BatchNormBackward"]
    (norm,) = arguments(graph, "BatchNorm")
    assert [node.arguments for node in backward] == [norm]


def test_a_long_sequence_is_left_out_with_its_name(workers: Workers) -> None:
    graph = captured(workers, "torch-tape", "long_list")
    (node,) = [node for node in graph.nodes if node.op == "aten.split_with_sizes.default"]
    assert node.arguments == {"dim": 0}
    assert node.missing["arguments"] == Absence("long_argument", "split_sizes")


@pytest.mark.parametrize(
    ("operator", "said"),
    [
        (
            "PrimFunc_Softmax(Tensor(shape=[], dtype=Float32, value=0), I64(1))",
            "{'axis': 1} ('computed_argument', 'input')",
        ),
        (
            "PrimFunc_SumExt(None, (I64(0), I64(1)), Bool(1), I64(43))",
            "{'input': None, 'dim': (0, 1), 'keepdim': True, 'dtype': 'float32'} None",
        ),
        ("PrimFunc_NoSuchOperator(I64(1))", "{} ('unnamed_arguments', '')"),
    ],
)
def test_what_a_program_writes_is_read_by_the_names_of_the_operator(
    operator: str, said: str, workers: Workers
) -> None:
    head, _, operands = operator.partition("(")
    counts = {"PrimFunc_Softmax": 2, "PrimFunc_SumExt": 4, "PrimFunc_NoSuchOperator": 1}
    count = counts[head]
    text = module_of(statement(operands.removesuffix(")"), count, head=f"  %0(a) = {head}"), RETURN)
    found = workers.call(
        "mindspore", "tests.support.worker_targets:arguments_of_text", Word(text), Word
    )
    assert isinstance(found, Word)
    assert found.text == said


@pytest.mark.parametrize("engine", ["mindspore-tape", "mindspore-graph"])
def test_a_name_that_this_version_does_not_have_keeps_no_other_from_being_read(
    workers: Workers, engine: str
) -> None:
    (sampled,) = arguments(captured(workers, engine, "grid_sample"), "GridSampler2D")
    assert (sampled["interpolation_mode"], sampled["padding_mode"]) == ("bilinear", "border")
