"""The cotangents that seed a backward pass."""

import pytest

from explorer.numeric.cotangents import cotangent


def test_a_cotangent_is_spaced_evenly_and_says_which_output_it_belongs_to() -> None:
    assert cotangent(0, (3,), "float64").tolist() == [0.5, 1.0, 1.5]
    assert cotangent(2, (3,), "float64").tolist() == [2.5, 3.0, 3.5]


@pytest.mark.parametrize(
    ("dtype", "carrier"), [("float16", "float16"), ("float32", "float32"), ("bfloat16", "float32")]
)
def test_a_cotangent_has_the_dtype_that_carries_its_output(dtype: str, carrier: str) -> None:
    values = cotangent(0, (2, 2), dtype)
    assert (values.dtype.name, values.shape) == (carrier, (2, 2))


def test_the_cotangent_of_a_scalar_is_a_scalar() -> None:
    assert cotangent(1, (), "float32").shape == ()
    assert float(cotangent(1, (), "float32")) == 1.5
