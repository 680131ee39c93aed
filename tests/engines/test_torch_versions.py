"""What depends on the version of PyTorch: the table, and what takes a feature's place before it."""

import contextlib
from typing import Any

import pytest

pytestmark = pytest.mark.torch


@pytest.fixture
def versions() -> Any:
    from explorer.engines.torch import versions

    return versions


def test_a_feature_is_used_from_its_first_version_on(
    versions: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    major, minor = versions.FEATURES["joint"].since
    monkeypatch.setattr(versions, "VERSION", (major, minor))
    assert versions.offered("joint") == "described"
    monkeypatch.setattr(versions, "VERSION", (major, minor - 1))
    assert versions.offered("joint") == "ordered"


def test_zeros_that_are_a_mark_alone_get_memory(versions: Any) -> None:
    import torch

    zeros = versions.FEATURES["with_memory"].before(torch._efficientzerotensor((3,)))
    assert not zeros._is_zerotensor()
    assert zeros.numpy().tolist() == [0, 0, 0]


def test_a_level_of_torch_func_that_a_call_left_behind_is_left(versions: Any) -> None:
    import torch

    levels = torch._C._functorch
    for leave in versions.FEATURES["leave_levels"][1:]:
        levels._grad_increment_nesting()
        leave()
        assert levels.peek_interpreter_stack() is None


def test_a_graph_known_by_its_order_gives_what_a_described_one_gives() -> None:
    import torch

    from explorer.engines.torch import described_joint, ordered_joint

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2), torch.nn.Tanh())
    x = torch.randn(4, 3, requires_grad=True)
    held = {**dict(net.named_parameters()), **dict(net.named_buffers())}
    results = []
    for module in (described_joint, ordered_joint):
        with contextlib.ExitStack() as stack:
            graph = module.derived(stack, net, (x,), "")
        primals = [held[key] if kind == "parameter" else x for kind, key in graph.inputs[:-1]]
        assert graph.inputs[-1] == ("tangent", 0)
        outputs, gradients = graph.module([it.detach() for it in primals], [torch.ones(4, 2)])
        by_role = dict(zip(graph.outputs, [*outputs, *gradients], strict=True))
        results.append({role: it for role, it in by_role.items() if it is not None})
    described, ordered = (
        {role: it for role, it in result.items() if role != ("other", "")} for result in results
    )
    assert described.keys() == ordered.keys()
    assert ("gradient", 0) in described
    assert ("state", "1.running_mean") in described
    for role, value in described.items():
        assert torch.equal(value, ordered[role]), role
