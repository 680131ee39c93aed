"""PyTorch's engines on an NVIDIA GPU where there is one; what is said of devices where there is none."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from explorer.engines.capture.lint import lint
from explorer.exploration.explore import explore
from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.report import Report
from explorer.model.requests import CaseRequest, NetRequest, Nothing
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.needs import cuda_device

pytestmark = pytest.mark.torch

ENGINES = ("torch-tape", "torch-graph")

SCENARIOS = ("polynomial", "dense_mse", "attention_block", "shared_weight")


@pytest.fixture(scope="module")
def cuda(workers: Workers) -> str:
    """The first CUDA device; tests that ask for it are skipped where there is none."""
    return cuda_device(workers)


@pytest.fixture(params=SCENARIOS)
def on_cuda(request: pytest.FixtureRequest, cuda: str, workers: Workers) -> Report:
    return explore(
        load(find(request.param)), workers, engines=ENGINES, device=cuda, selection="structure"
    )


def test_both_engines_answer_on_the_gpu_as_central_differences_do_on_the_cpu(
    on_cuda: Report,
) -> None:
    assert on_cuda.devices == dict.fromkeys(ENGINES, "cuda:0")
    answered = [case for case in on_cuda.cases if case.oracle and case.verdict != "all_raise"]
    assert answered
    assert [case.case.label for case in on_cuda.cases if not case.expected] == []
    assert [case.case.label for case in answered if not case.oracle_agrees] == []


def test_graphs_that_are_captured_on_the_gpu_keep_their_contract(on_cuda: Report) -> None:
    assert {graph.engine for graph in on_cuda.graphs} == set(ENGINES)
    assert {graph.engine: lint(graph) for graph in on_cuda.graphs if lint(graph)} == {}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_code_of_a_result_moves_net_inputs_and_cotangents_to_the_device(engine: str) -> None:
    from explorer.engines.torch.code import code

    case = GradCase("GradOperation", (0,), get_all=True, sens_param=True)
    start = {"fc.weight": pack(np.zeros((1, 3), np.float32))}
    path = str(find("dense_mse"))
    net = NetRequest(scenario=path, engine=engine, device="cuda:0", parameters=start)
    text = code(CaseRequest(net, case))
    assert "net.to('cuda:0')" in text
    assert "x = torch.tensor(arrays['x']).to('cuda:0')" in text
    (cotangents,) = (line for line in text.splitlines() if "cotangent(k" in line)
    assert ".to(root)" in cotangents or ".to(root.device" in cotangents


@pytest.mark.mindspore
def test_the_best_devices_of_both_frameworks_agree(cuda: str, workers: Workers) -> None:
    report = explore(load(find("dense_mse")), workers, device="auto", selection="main")
    assert {report.devices[name] for name in ENGINES} == {cuda}
    assert all(case.expected for case in report.cases)


class Backend(SimpleNamespace):
    """What PyTorch says of one kind of device."""

    def __init__(self, count: int) -> None:
        super().__init__(is_available=lambda: count > 0, device_count=lambda: count)


@pytest.mark.parametrize(
    ("cuda_count", "npu_count", "mps_count", "devices"),
    [
        (0, 0, 0, ("cpu",)),
        (2, 0, 0, ("cpu", "cuda:0", "cuda:1")),
        (0, 2, 0, ("cpu", "npu:0", "npu:1")),
        (0, 0, 1, ("cpu", "mps")),
        (1, 1, 1, ("cpu", "cuda:0", "npu:0", "mps")),
        (1, None, 0, ("cpu", "cuda:0")),
    ],
)
def test_about_names_what_pytorch_says_it_can_use(
    cuda_count: int,
    npu_count: int | None,
    mps_count: int,
    devices: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    from explorer.engines.torch.about import about

    monkeypatch.setattr(torch, "cuda", Backend(cuda_count))
    monkeypatch.setattr(torch.backends, "mps", Backend(mps_count))
    # torch_npu adds the module; without it there is none.
    npu: Any = Backend(npu_count) if npu_count is not None else None
    monkeypatch.setattr(torch, "npu", npu, raising=False)
    assert about(Nothing()).devices == devices
