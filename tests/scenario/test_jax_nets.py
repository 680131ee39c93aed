"""Each shipped net in JAX computes PyTorch's outputs and gradients from the same start."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from explorer.model.arrays import AnyArray
from explorer.scenario.find import REAL, SHIPPED, names
from explorer.scenario.load import load, module_of

PATHS = names(SHIPPED)

WITHOUT = {"text_cnn"}
"""Its dropout is random, and a pure function would need a key."""

DECIDE_BY_A_VALUE = ("branch_on_value", "while_loop")
"""Nets that read a value, which jax.jit does not know."""

AT_A_KINK = "kinks"

TOLERANCE = 1e-4
"""The greatest difference, in units of the greatest gradient of the net."""

Arrays = Mapping[str, AnyArray]
Answer = tuple[list[AnyArray], Arrays]
"""The outputs, and the gradients of the first one with respect to inputs and parameters by name."""


def nets() -> list[Any]:
    """The names of the scenarios; those on published nets, a minute and a half, only ``--whole`` runs."""
    parameters = []
    for name in sorted({*PATHS} - WITHOUT):
        marks = (pytest.mark.whole,) if PATHS[name].parent == REAL else ()
        parameters.append(pytest.param(name, marks=marks))
    return parameters


def test_every_shipped_scenario_but_one_has_a_net_in_jax() -> None:
    without = {name for name, path in PATHS.items() if "\ndef jax_net():" not in path.read_text()}
    assert without == WITHOUT


@pytest.mark.jax
@pytest.mark.torch
@pytest.mark.parametrize("name", nets())
def test_a_net_in_jax_computes_what_pytorch_s_does(name: str) -> None:
    (outputs, gradients), (their_outputs, their_gradients) = answers(name)
    assert len(outputs) == len(their_outputs)
    for output, theirs in zip(outputs, their_outputs, strict=True):
        assert output.dtype == theirs.dtype
        np.testing.assert_allclose(output, theirs, TOLERANCE, TOLERANCE)
    if name == AT_A_KINK:
        return
    greatest = max(np.abs(theirs).max(initial=0) for theirs in their_gradients.values())
    assert list(gradients) == list(their_gradients)
    for leaf, theirs in their_gradients.items():
        np.testing.assert_allclose(gradients[leaf], theirs, 0, TOLERANCE * greatest, err_msg=leaf)


@pytest.mark.jax
@pytest.mark.torch
def test_at_kinks_jax_has_other_slopes_of_abs_clip_and_norm_than_pytorch() -> None:
    (_, gradients), (_, theirs) = answers(AT_A_KINK)
    # 2·|x| at 0 has slope 2 and not 0, 4·clip(x) at its bound 2 and not 4, the norm at 0 nan and not 0.
    np.testing.assert_array_equal(gradients["x"] - theirs["x"], [0, 2, -2, np.nan])
    assert np.isnan(gradients["v"]).all()
    assert not theirs["v"].any()


def answers(name: str) -> tuple[Answer, Answer]:
    """What JAX's net computes, and what PyTorch's does, in this process."""
    pytest.importorskip("jax")  # it may be in an environment of its own
    import torch

    scenario = load(PATHS[name])
    nets = module_of(scenario)
    torch.manual_seed(0)
    net = nets.torch_net()
    held: dict[str, AnyArray] = {}
    trained: dict[str, Any] = {}
    if isinstance(net, torch.nn.Module):
        net.train(scenario.train)
        start = {key: torch.tensor(value) for key, value in (scenario.parameters() or {}).items()}
        net.load_state_dict({**net.state_dict(), **start})
        trained = {key: it for key, it in net.named_parameters() if it.requires_grad}
        held = {key: value.detach().numpy().copy() for key, value in net.state_dict().items()}
    inputs = scenario.inputs()
    theirs = in_torch(net, inputs, trained)
    return in_jax(nets.jax_net(), inputs, held, list(trained), name), theirs


def in_torch(net: Any, inputs: Arrays, trained: Mapping[str, Any]) -> Answer:
    import torch

    tensors = {key: torch.tensor(value) for key, value in inputs.items()}
    leaves = {key: it.requires_grad_() for key, it in tensors.items() if it.is_floating_point()}
    leaves |= trained
    outputs = tensors_of(net(*tensors.values()))
    gradients = torch.autograd.grad(
        outputs[0].sum(), list(leaves.values()), allow_unused=True, materialize_grads=True
    )
    arrays = [gradient.numpy() for gradient in gradients]
    return [it.detach().numpy() for it in outputs], dict(zip(leaves, arrays, strict=True))


def in_jax(net: Any, inputs: Arrays, held: Arrays, trained: list[str], name: str) -> Answer:
    import jax
    from jax.experimental import enable_x64

    floats = [key for key, value in inputs.items() if value.dtype.kind == "f"]

    def first(leaves: Mapping[str, Any]) -> Any:
        given = {key: leaves.get(key, value) for key, value in inputs.items()}
        parameters = {key: leaves.get(key, value) for key, value in held.items()}
        outputs = tensors_of(net(parameters, *given.values()))
        return outputs[0].sum(), outputs

    leaves = {**{key: inputs[key] for key in floats}, **{key: held[key] for key in trained}}
    with enable_x64(any(it.dtype == np.float64 for it in (*inputs.values(), *held.values()))):
        leaves = {key: jax.numpy.asarray(value) for key, value in leaves.items()}
        differentiated = jax.grad(first, has_aux=True)
        if name not in DECIDE_BY_A_VALUE:
            differentiated = jax.jit(differentiated)
        gradients, outputs = differentiated(leaves)
        arrays = {key: np.asarray(gradients[key]) for key in leaves}
        return [np.asarray(output) for output in outputs], arrays


def tensors_of(returned: Any) -> list[Any]:
    """The outputs of a net, which may be one."""
    return list(returned) if isinstance(returned, tuple) else [returned]
