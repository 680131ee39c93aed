"""What the two MindSpore engines answer and capture, asked of them through their workers."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from explorer.engines.capture.lint import lint
from explorer.engines.mindspore.code import code
from explorer.exploration.explore import widest
from explorer.model.arrays import pack, unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.graph import GradGraph, Node
from explorer.model.requests import CaseRequest, Description, NetRequest, Nothing
from explorer.model.results import About, Captured, Result
from explorer.model.trees import render
from explorer.scenario.contract import load
from explorer.scenario.matrix import matrix, structure
from explorer.workers.environments import capture_environment
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers

ROOT = Path(__file__).resolve().parent.parent
NETS = ROOT / "tests" / "nets"
BOTH = ("mindspore-graph", "mindspore-tape")
Reply = TypeVar("Reply")
CAPTURED = ("ms_dense", "ms_conv", "ms_shared", "ms_mlp")


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(timeout=120) as running:
        yield running


@pytest.fixture(scope="module")
def described(workers: Workers) -> Callable[[str, str], Description]:
    def look(name: str, engine: str) -> Description:
        request = NetRequest(scenario=str(NETS / f"{name}.py"), engine=engine)
        return reply(
            workers.call("mindspore", f"{ENGINES[engine].module}:describe", request, Description)
        )

    return look


@pytest.fixture(scope="module")
def net(described: Callable[[str, str], Description]) -> Callable[[str, str], NetRequest]:
    def request(name: str, engine: str) -> NetRequest:
        specs = described(name, "mindspore-tape").parameters
        start = {spec.name: spec.value for spec in specs}
        start |= {
            key: pack(value)
            for key, value in (load(NETS / f"{name}.py").parameters() or {}).items()
        }
        trainable = tuple(spec.name for spec in specs if spec.trainable)
        return NetRequest(
            scenario=str(NETS / f"{name}.py"), engine=engine, parameters=start, trainable=trainable
        )

    return request


@pytest.fixture(scope="module")
def ask(
    workers: Workers, net: Callable[[str, str], NetRequest]
) -> Callable[[str, str, GradCase], Result]:
    def answer(name: str, engine: str, case: GradCase) -> Result:
        request = CaseRequest(net(name, engine), case)
        return reply(workers.call("mindspore", f"{ENGINES[engine].module}:answer", request, Result))

    return answer


@pytest.fixture(scope="module")
def take(workers: Workers, net: Callable[[str, str], NetRequest]) -> Callable[..., Captured]:
    def capture(
        name: str, engine: str, case: GradCase | None = None, values: bool = True
    ) -> Captured:
        request = CaseRequest(net(name, engine), case or whole(name, net(name, engine)), values)
        entry = ENGINES[engine]
        return reply(workers.call(entry.captures_in, f"{entry.module}:capture", request, Captured))

    return capture


def reply(given: Reply | Lost) -> Reply:
    assert not isinstance(given, Lost), given
    return given


def whole(name: str, request: NetRequest) -> GradCase:
    scenario = load(NETS / f"{name}.py")
    floating = tuple(array.dtype.kind == "f" for array in scenario.inputs().values())
    return widest(floating, len(scenario.output_names) or 1, bool(request.trainable))


def numbers(result: Result) -> list[object]:
    return [unpack(leaf.value).tolist() for leaf in result.leaves]


def backward(graph: GradGraph) -> list[Node]:
    return [
        node
        for node in graph.nodes
        if node.phase == "backward" and node.kind in {"op", "accumulate", "call"}
    ]


def test_about_tells_the_version_and_that_the_cpu_is_there(workers: Workers) -> None:
    about = reply(
        workers.call("mindspore", "explorer.engines.mindspore.about:about", Nothing(), About)
    )
    assert isinstance(about, About)
    assert re.fullmatch(r"\d+\.\d+.*", about.versions["mindspore"])
    assert about.devices[0] == "cpu"


@pytest.mark.parametrize("engine", BOTH)
def test_every_case_has_the_structure_that_the_rules_give(
    engine: str, ask: Callable[[str, str, GradCase], Result]
) -> None:
    scenario = load(NETS / "ms_dense.py")
    for case in matrix(2, True, order=2):
        if case.grad_position in (1, (1,), (0,)) or (case.has_aux and case.weights == "one"):
            continue  # they say nothing that the others do not, and each case is compiled
        result = ask("ms_dense", engine, case)
        if case.must_fail:
            assert result.outcome == "raised"
            continue
        assert result.error is None, case.label
        assert result.structure == render(
            structure(case, ("x", "y"), ("fc.weight",), scenario.output_names)
        ), case.label
        assert result.natural == result.structure


@pytest.mark.parametrize("engine", BOTH)
@pytest.mark.parametrize(
    ("case", "wanted"),
    [
        (GradCase("grad", 0, None, True), [[[4.0, 6.0, 8.0]], 20.0]),
        (GradCase("grad", 0), [[[6.0, 9.0, 12.0]]]),
        (GradCase("grad", None, "one"), [[[3.0, 6.0, 9.0]]]),
        (
            GradCase("value_and_grad", (0, 1), "all", True),
            [1.0, 20.0, [[4.0, 6.0, 8.0]], -2.0, [[2.0, 4.0, 6.0]]],
        ),
        (GradCase("GradOperation", 0, sens_param=True), [[[5.0, 7.5, 10.0]]]),
    ],
)
def test_the_guides_numbers(
    engine: str, case: GradCase, wanted: list[object], ask: Callable[[str, str, GradCase], Result]
) -> None:
    assert numbers(ask("ms_dense", engine, case)) == wanted


@pytest.mark.parametrize("engine", BOTH)
def test_asking_for_nothing_raises_the_guides_value_error(
    engine: str, ask: Callable[[str, str, GradCase], Result]
) -> None:
    error = ask("ms_dense", engine, GradCase("grad")).error
    assert error is not None
    assert (error.type, error.message) == (
        "ValueError",
        "`grad_position` and `weight` can not be None at the same time.",
    )


@pytest.mark.parametrize("engine", BOTH)
def test_an_answer_leaves_no_trace_in_the_next(
    engine: str, ask: Callable[[str, str, GradCase], Result]
) -> None:
    case = GradCase("grad", 0, "all", True)
    assert ask("ms_conv", engine, case).leaves == ask("ms_conv", engine, case).leaves


def test_get_all_gives_a_tuple_even_for_one_input(
    ask: Callable[[str, str, GradCase], Result],
) -> None:
    for engine in BOTH:
        assert (
            ask("ms_shared", engine, GradCase("GradOperation", (0,), get_all=True)).structure
            == "(dx,)"
        )


def test_one_array_under_two_names_is_one_tensor(
    ask: Callable[[str, str, GradCase], Result],
) -> None:
    case = GradCase("grad", 0)
    assert numbers(ask("ms_aliased", "mindspore-tape", case)) == [[2.0, 4.0, 6.0]]
    assert numbers(ask("ms_aliased", "mindspore-graph", case)) == [[1.0, 2.0, 3.0]]


def test_ids_are_positions_and_parameter_names(ask: Callable[[str, str, GradCase], Result]) -> None:
    for engine in BOTH:
        assert ask("ms_dense", engine, GradCase("grad", (0, 1), "all")).ids == (
            "0",
            "1",
            "fc.weight",
        )
    tape = ask("ms_dense", "mindspore-tape", GradCase("grad", 0, "one"))
    assert tape.ids == ()
    assert "The tensor should have only one element" in tape.note


@pytest.mark.parametrize("engine", BOTH)
def test_a_forward_that_raises_is_described_with_the_users_line(
    engine: str, described: Callable[[str, str], Description]
) -> None:
    error = described("ms_raises", engine).error
    assert error is not None
    assert error.source == "ms_raises.py:20"
    assert "/" not in error.message.split("\n")[0]


@pytest.mark.parametrize(
    ("engine", "case"),
    [
        ("mindspore-graph", GradCase("grad", 0, "all", True)),
        ("mindspore-tape", GradCase("GradOperation", 0, sens_param=True)),
        ("mindspore-graph", GradCase("grad", 1, order=2)),
    ],
)
def test_the_code_shown_can_be_pasted(
    engine: str, case: GradCase, ask: Callable[[str, str, GradCase], Result], tmp_path: Path
) -> None:
    result = ask("ms_dense", engine, case)
    environment = {
        "PATH": os.environ["PATH"],
        "GLOG_v": "4",
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
    }
    script = result.code.replace("'tests/nets'", repr(str(NETS)))
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    values = re.sub(r"shape=\[[^]]*\], dtype=\w+, value=", "", done.stdout)
    printed = [float(number) for number in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", values)]
    assert (
        printed == np.concatenate([np.ravel(np.array(value)) for value in numbers(result)]).tolist()
    )


@pytest.mark.parametrize("engine", BOTH)
@pytest.mark.parametrize("name", CAPTURED)
def test_capture_does_not_change_the_answer(
    name: str,
    engine: str,
    ask: Callable[[str, str, GradCase], Result],
    take: Callable[..., Captured],
    net: Callable[[str, str], NetRequest],
) -> None:
    plain = ask(name, engine, whole(name, net(name, engine)))
    assert take(name, engine).result.leaves == plain.leaves
    assert take(name, engine, values=False).result.leaves == plain.leaves


@pytest.mark.parametrize("engine", BOTH)
@pytest.mark.parametrize("name", CAPTURED)
def test_backward_nodes_have_value_source_and_forward_node(
    name: str, engine: str, take: Callable[..., Captured]
) -> None:
    graph = take(name, engine).graphs[-1]
    assert lint(graph) == []
    nodes = backward(graph)
    assert nodes
    for share in (
        [all(out.values for out in node.outputs) for node in nodes],
        [bool(node.source) for node in nodes],
        [node.forward is not None for node in nodes],
    ):
        assert sum(share) >= 0.95 * len(nodes)


@pytest.mark.parametrize("engine", BOTH)
@pytest.mark.parametrize("name", CAPTURED)
def test_a_gradient_node_holds_the_gradient_and_so_does_what_feeds_it(
    name: str, engine: str, take: Callable[..., Captured]
) -> None:
    captured = take(name, engine)
    graph = captured.graphs[-1]
    nodes = graph.by_id()
    leaves = {
        leaf.name: unpack(leaf.value)
        for leaf in captured.result.leaves
        if leaf.name.startswith("d")
    }
    outputs = {
        node.name: node
        for node in graph.nodes
        if node.kind == "output" and node.phase == "backward"
    }
    assert outputs.keys() == leaves.keys()
    for name_of, node in outputs.items():
        (edge,) = [edge for edge in graph.edges if edge.target == node.id]
        for seen in (node.outputs[0].values, nodes[edge.origin].outputs[edge.output].values):
            assert seen is not None
            assert seen.norm == pytest.approx(
                float(np.linalg.norm(leaves[name_of].astype(np.float64))), rel=1e-12
            )


@pytest.mark.parametrize("engine", BOTH)
def test_every_float_keeps_its_dtype_through_answer_and_capture(
    engine: str, take: Callable[..., Captured]
) -> None:
    captured = take("ms_dtypes", engine, GradCase("value_and_grad", (0, 3)))
    assert captured.result.error is None
    dtypes = {leaf.name: leaf.value.dtype for leaf in captured.result.leaves}
    assert dtypes == {
        "half": "float16",
        "brain": "bfloat16",
        "double": "float64",
        "dx": "float16",
        "dwide": "float64",
    }
    graph = captured.graphs[-1]
    assert lint(graph) == []
    values = [out.values for node in graph.nodes for out in node.outputs if out.dtype == "bfloat16"]
    assert values
    assert all(value is not None for value in values)


@pytest.mark.parametrize("engine", BOTH)
def test_nodes_stand_in_their_modules_under_pytorchs_paths(
    engine: str, take: Callable[..., Captured]
) -> None:
    graph = take("ms_conv", engine).graphs[-1]
    scopes = {node.scope for node in graph.nodes if node.kind == "op"}
    assert {"conv", "bn", "relu", "pool", "flatten", "fc", "loss"} <= scopes
    assert {node.name for node in graph.nodes if node.kind == "parameter"} >= {
        "bn.weight",
        "bn.bias",
        "fc.weight",
    }


def test_each_call_of_a_shared_layer_has_its_own_backward(take: Callable[..., Captured]) -> None:
    for engine in BOTH:
        graph = take("ms_shared", engine).graphs[-1]
        products = [node for node in graph.nodes if node.op == "MatMul" and node.phase == "forward"]
        linked = {node.forward for node in backward(graph) if node.op == "MatMul"}
        assert linked == {node.id for node in products}
        assert len(products) == 2


def test_the_same_capture_twice_gives_the_same_graph(take: Callable[..., Captured]) -> None:
    assert take("ms_conv", "mindspore-tape").graphs == take("ms_conv", "mindspore-tape").graphs


def test_the_tape_counts_what_is_saved(take: Callable[..., Captured]) -> None:
    graph = take("ms_dense", "mindspore-tape").graphs[-1]
    (product,) = [node for node in graph.nodes if node.op == "MatMul" and node.phase == "forward"]
    assert product.saved_bytes == 24


def test_a_branch_is_two_graphs_in_graph_style_and_one_line_on_the_tape(
    take: Callable[..., Captured],
) -> None:
    case = GradCase("grad", 0)
    compiled = take("ms_branch", "mindspore-graph", case).graphs[-1]
    assert lint(compiled) == []
    assert any(len(node.calls) == 2 for node in compiled.nodes)
    assert any("other branch" in node.missing.get("values", "") for node in compiled.nodes)
    assert all(
        not node.calls for node in take("ms_branch", "mindspore-tape", case).graphs[-1].nodes
    )


def test_the_passes_come_in_order_with_the_forward_program_first(
    take: Callable[..., Captured],
) -> None:
    graphs = take("ms_dense", "mindspore-graph").graphs
    assert [graph.stage for graph in graphs] == ["type_inference", "opt_a", "validate"]
    assert all(lint(graph) == [] for graph in graphs)
    assert not backward(graphs[0])


@pytest.mark.parametrize("engine", BOTH)
@pytest.mark.parametrize("order", [2, 3])
def test_nested_gradients_are_captured(
    engine: str, order: int, take: Callable[..., Captured]
) -> None:
    captured = take("ms_cubic", engine, GradCase("grad", 0, order=order))
    assert captured.result.error is None
    assert lint(captured.graphs[-1]) == []
    assert numbers(captured.result) == [[[6.0, 12.0, 18.0], [6.0, 6.0, 6.0]][order - 2]]


def test_the_code_of_every_case_is_python() -> None:
    for engine in BOTH:
        request = NetRequest(scenario=str(NETS / "ms_dense.py"), engine=engine)
        for case in matrix(2, True, order=3):
            assert ast.parse(code(CaseRequest(request, case))).body, case.label


def test_only_a_worker_that_is_to_read_values_has_every_kernel_dumped(tmp_path: Path) -> None:
    full, bare = capture_environment(tmp_path), capture_environment(tmp_path, values=False)
    assert bare == {name: value for name, value in full.items() if name != "MINDSPORE_DUMP_CONFIG"}
    assert Path(full["MINDSPORE_DUMP_CONFIG"]).is_file()
