"""Updates that differ by the noise of their gradients, and by more."""

import numpy as np
import pytest

from explorer.compare.results.verdicts import alike_updates
from explorer.model.arrays import pack
from explorer.model.graph import GradGraph, Node, Output
from explorer.model.results import Leaf
from explorer.model.state import StateChange
from explorer.model.trace import Trace

GRADIENT = np.array([0.5, -0.25, 1e-9])
"""The last element is noise about zero."""

NOISE = 1e-8


def step(update: list[float], noise: float | None = NOISE) -> Trace:
    output = Output((3,), "float64", noise=noise)
    node = Node(id="n0", op="output", kind="output", phase="backward", name="dw", outputs=(output,))
    changes = [
        StateChange(name, pack(np.zeros(3)), pack(np.array(update))) for name in ("w", "w.exp_avg")
    ]
    return Trace(
        name="step",
        framework="torch",
        results=(Leaf("dw", pack(GRADIENT)),),
        state=tuple(changes),
        graph=GradGraph(engine="torch-tape", case="", stage="tape", nodes=(node,), edges=()),
    )


def test_an_element_whose_gradient_is_noise_may_move_either_way() -> None:
    alike = alike_updates(step([-0.01, 0.01, -0.01]), step([-0.01, 0.01, 0.01]))
    assert alike == {"w", "w.exp_avg"}


@pytest.mark.parametrize("other", [[-0.01, 0.011, -0.01], [-0.01, 0.01, 0.05]])
def test_what_noise_does_not_explain_is_not_alike(other: list[float]) -> None:
    assert alike_updates(step([-0.01, 0.01, -0.01]), step(other)) == frozenset()


def test_without_measured_noise_nothing_is_said() -> None:
    one, another = step([-0.01, 0.01, -0.01], None), step([-0.01, 0.01, 0.01], None)
    assert alike_updates(one, another) == frozenset()
