"""Bytes that MindSpore's tape saves, counted for the operator that saved them first."""

from typing import Any

import numpy as np
import pytest

from explorer.engines.capture.builder import GraphBuilder

pytestmark = pytest.mark.mindspore


class Saved:
    """A tensor with the storage of an array."""

    def __init__(self, array: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> None:
        self.nbytes = array.nbytes
        self._address = array.ctypes.data

    def data_ptr(self) -> int:
        return self._address


ARRAY = np.ones((4, 64), np.float32)
SIX = Saved(ARRAY[:2, :3])


def two_operators() -> tuple[Any, GraphBuilder]:
    """A count for two nodes, of which the first has run."""
    # (Not above: a run that leaves these tests out imports no framework.)
    from explorer.engines.mindspore.tape_nodes import SavedBytes

    builder = GraphBuilder()
    for _ in range(2):
        builder.add("mul", "op", "forward")
    count = SavedBytes(builder.nodes)
    count.operator_starts()
    count.operator_made(0)
    return count, builder


def test_what_is_saved_right_after_an_operator_is_its_own() -> None:
    count, builder = two_operators()
    count.saved(SIX)
    assert [node.saved_bytes for node in builder.nodes] == [24, 0]


def test_what_is_saved_while_an_operator_runs_is_its_own_and_not_that_of_the_one_before() -> None:
    count, builder = two_operators()
    count.operator_starts()
    count.saved(SIX)
    count.operator_made(1)
    assert [node.saved_bytes for node in builder.nodes] == [0, 24]


def test_a_storage_counts_once_for_the_operator_that_saved_it_first() -> None:
    count, builder = two_operators()
    count.saved(SIX)
    count.operator_starts()
    count.saved(SIX)
    count.operator_made(1)
    assert [node.saved_bytes for node in builder.nodes] == [24, 0]
