"""Nets without starting values of their own start alike in both frameworks."""

import numpy as np

from explorer.model.arrays import pack, unpack
from explorer.model.requests import Description, ParameterSpec, Role
from explorer.topics.scenario_nets import drawn_parameters


def description(*names: str) -> Description:
    """A net with parameters of shape (2, 3); those called "mean" are not trained."""
    specs = []
    for name in names:
        value = pack(np.zeros((2, 3), np.float32))
        role: Role = "frozen" if name.endswith("mean") else "trained"
        specs.append(ParameterSpec(name, f"own.{name}", role, value))
    return Description(parameters=tuple(specs))


def test_what_is_trained_starts_by_its_name_whatever_net_it_is_in() -> None:
    first = drawn_parameters(description("fc.weight", "fc.mean"))
    other = drawn_parameters(description("conv.weight", "fc.weight"))
    assert first.keys() == {"fc.weight"}
    assert first["fc.weight"] == other["fc.weight"] != other["conv.weight"]


def test_values_are_drawn_within_one_over_the_root_of_a_rows_length() -> None:
    weight = unpack(drawn_parameters(description("fc.weight"))["fc.weight"])
    assert weight.shape == (2, 3)
    assert 0 < np.abs(weight).max() <= 1 / np.sqrt(3)
