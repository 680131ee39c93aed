"""Other values in the places of what an operator yields, on PyTorch's tape."""

import pytest

torch = pytest.importorskip("torch")

from explorer.engines.torch.put_in import put_in  # noqa: E402 - behind the skip where torch is missing

pytestmark = pytest.mark.torch

OTHER = torch.arange(6.0) + 10


def test_an_output_in_memory_of_its_own_keeps_it() -> None:
    result = torch.zeros(2, 3)
    assert put_in(result, {0: OTHER}, [torch.ones(2, 3)], ()) is result
    assert torch.equal(result, OTHER.reshape(2, 3))


def test_a_view_gets_memory_of_its_own_and_its_strides() -> None:
    operand = torch.zeros(3, 2)
    filled = put_in(operand.t(), {0: OTHER}, [operand], ())
    assert torch.equal(filled, OTHER.reshape(2, 3))
    assert filled.stride() == operand.t().stride()
    assert not operand.any()


def test_an_expanded_view_is_filled_element_by_element() -> None:
    operand = torch.zeros(3)
    filled = put_in(operand.expand(2, 3), {0: OTHER}, [operand], ())
    assert torch.equal(filled, OTHER.reshape(2, 3))


def test_what_was_written_to_keeps_its_memory() -> None:
    operand = torch.zeros(2, 3)
    assert put_in(operand, {0: OTHER}, [operand], [operand]) is operand
    assert torch.equal(operand, OTHER.reshape(2, 3))


def test_of_several_outputs_the_numbered_ones_change() -> None:
    first, second = torch.zeros(6), torch.ones(6)
    result = put_in((first, None, second), {1: None}, [], ())
    assert result[0] is first
    assert result[1] is None
    assert not result[2].any()  # zeros, where the other side has no value
    assert not first.any()
