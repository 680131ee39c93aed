"""Functions that are known by their values, at points whose values stand in their definitions."""

import numpy as np
import pytest

from explorer.compare.causes.composites import ACTIVATIONS

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
}


def test_every_function_has_its_values_here() -> None:
    assert ACTIVATIONS.keys() == VALUES.keys()


@pytest.mark.parametrize("name", VALUES)
def test_a_function_has_the_values_of_its_definition(name: str) -> None:
    np.testing.assert_allclose(ACTIVATIONS[name](POINTS), VALUES[name], atol=2e-9)
