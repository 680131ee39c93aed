"""Functions that are known by their values, at points whose values stand in their definitions."""

import numpy as np
import pytest

from explorer.compare.causes.candidates import suspects_at
from explorer.compare.causes.composites import ACTIVATIONS
from explorer.compare.causes.from_values import related_cause
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import InsertOperator, SetArguments
from tests.support.divergence_records import other_value
from tests.support.written_nets import given, net

POINTS = np.array([-4.0, -1.0, 0.0, 1.0, 4.0])

VALUES = {
    "relu": (0, 0, 0, 1, 4),
    # x·Φ(x), of a table of the normal distribution
    "gelu by erf": (-0.000126685, -0.158655254, 0, 0.841344746, 3.999873315),
    # Hendrycks and Gimpel, Gaussian Error Linear Units (2016): with the hyperbolic tangent
    "gelu by tanh": (-0.000070247, -0.158808009, 0, 0.841191991, 3.999929753),
    "silu": (-0.071944839, -0.268941421, 0, 0.731058579, 3.928055161),
    "sigmoid": (0.017986210, 0.268941421, 0.5, 0.731058579, 0.982013790),
    "tanh": (-0.999329300, -0.761594156, 0, 0.761594156, 0.999329300),
    "softplus": (0.018149928, 0.313261688, 0.693147181, 1.313261688, 4.018149928),
    "mish": (-0.072591739, -0.303401461, 0, 0.865098388, 3.997412815),
    "elu": (-0.981684361, -0.632120559, 0, 1, 4),
    "hardswish": (0, -1 / 3, 0, 2 / 3, 4),
    # the others by torch 2.13 in double precision
    "quick gelu": (-0.004414724, -0.154204234, 0, 0.845795766, 3.995585276),
    "leaky relu": (-0.04, -0.01, 0, 1, 4),
    "relu6": (0, 0, 0, 1, 4),
    "squared relu": (0, 0, 0, 1, 16),
    "selu": (-1.725898628, -1.111330738, 0, 1.050700987, 4.202803949),
    "hardsigmoid": (0, 1 / 3, 0.5, 2 / 3, 1),
    "softsign": (-0.8, -0.5, 0, 0.5, 0.8),
    "log sigmoid": (-4.018149928, -1.313261688, -0.693147181, -0.313261688, -0.018149928),
}


def test_every_function_has_its_values_here() -> None:
    assert ACTIVATIONS.keys() == VALUES.keys()


@pytest.mark.parametrize("name", VALUES)
def test_a_function_has_the_values_of_its_definition(name: str) -> None:
    np.testing.assert_allclose(ACTIVATIONS[name](POINTS), VALUES[name], atol=2e-9)


BEGIN = """
    - half = mul @1: 0.5 * x
    - cube = integer_pow @1,7: x**3
    - gate = tanh @1,7: np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * cube))
    - out = mul @1,7: half * (1 + gate)
    + half = Muls @1: 1.702 * x
"""
OTHER = """
    + gate = Sigmoid @1,7: 1 / (1 + np.exp(-half))
    + out = Mul @1,7: gate * x
"""
ONCE = OTHER.replace("gate * x", "gate * 2")
SAME = "+ out = Mul @1,7: half * (1 + np.tanh(x))"


@pytest.mark.parametrize(("end", "name"), [(OTHER, "gelu by tanh"), (ONCE, ""), (SAME, "")])
def test_functions_that_begin_with_a_number_differ_by_more_than_that(end: str, name: str) -> None:
    left = GraphView(given(net("jax-tape", BEGIN + end), "net.py:1", {"x": 0.5}))
    other = net("mindspore-tape", BEGIN + end, side="right")
    right = GraphView(given(other, "net.py:1", {"other": 1.702}))
    suspects = suspects_at(other_value(), left, right)
    edits = [edit for it in suspects for trial in it.trials for edit in trial.edits]
    assert any(isinstance(edit, SetArguments) for edit in edits) != bool(name)
    cause = related_cause(other_value(), left, right)
    functions = [it.name for it in cause.edits if isinstance(it, InsertOperator)] if cause else []
    assert functions == [name]
