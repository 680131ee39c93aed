"""Other values in the places of what an operator yields, on PyTorch's tape."""

from typing import Any, NamedTuple

import pytest

pytestmark = pytest.mark.torch


class Here(NamedTuple):
    """PyTorch, what is tested, and the other values."""

    torch: Any
    put_in: Any
    other: Any


@pytest.fixture
def here() -> Here:
    # (Not above: a run that leaves these tests out imports no framework.)
    import torch

    from explorer.engines.torch.put_in import put_in

    return Here(torch, put_in, torch.arange(6.0) + 10)


def test_an_output_in_memory_of_its_own_keeps_it(here: Here) -> None:
    torch, put_in, other = here
    result = torch.zeros(2, 3)
    assert put_in(result, {0: other}, [torch.ones(2, 3)], ()) is result
    assert torch.equal(result, other.reshape(2, 3))


def test_a_view_gets_memory_of_its_own_and_its_strides(here: Here) -> None:
    torch, put_in, other = here
    operand = torch.zeros(3, 2)
    filled = put_in(operand.t(), {0: other}, [operand], ())
    assert torch.equal(filled, other.reshape(2, 3))
    assert filled.stride() == operand.t().stride()
    assert not operand.any()


def test_an_expanded_view_is_filled_element_by_element(here: Here) -> None:
    torch, put_in, other = here
    operand = torch.zeros(3)
    filled = put_in(operand.expand(2, 3), {0: other}, [operand], ())
    assert torch.equal(filled, other.reshape(2, 3))


def test_what_was_written_to_keeps_its_memory(here: Here) -> None:
    torch, put_in, other = here
    operand = torch.zeros(2, 3)
    assert put_in(operand, {0: other}, [operand], [operand]) is operand
    assert torch.equal(operand, other.reshape(2, 3))


def test_of_several_outputs_the_numbered_ones_change(here: Here) -> None:
    torch, put_in, _ = here
    first, second = torch.zeros(6), torch.ones(6)
    result = put_in((first, None, second), {1: None}, [], ())
    assert result[0] is first
    assert result[1] is None
    assert not result[2].any()  # zeros, where the other side has no value
    assert not first.any()
