"""What calls leave in the state of a net, side by side."""

import numpy as np
import pytest

from explorer.compare.graphs.sameness import MINDSPORE_TABLE, TORCH_TABLE
from explorer.compare.results.answers import state_rows
from explorer.model.arrays import pack
from explorer.model.state import StateChange


def change(name: str, before: float, after: float, dtype: str = "float32") -> StateChange:
    return StateChange(
        name, pack(np.array([before], dtype), dtype), pack(np.array([after], dtype), dtype)
    )


def test_engines_that_leave_the_same_values_are_one_group_up_to_rounding() -> None:
    state = {
        "mindspore-tape": (change("mean", 0, 0.5),),
        "torch-tape": (change("mean", 0, 0.5000001),),
        "torch-graph": (change("mean", 0, 0.6),),
    }
    (row,) = state_rows(state)
    assert [group.engines for group in row.groups] == [
        ("mindspore-tape", "torch-tape"),
        ("torch-graph",),
    ]
    assert row.differs


@pytest.mark.parametrize(
    ("after", "other", "dtype", "differs"),
    [(2, 1, "int64", True), (np.nan, np.nan, "float32", False)],
    ids=["a counter that differs by one", "a nan and a nan"],
)
def test_what_is_not_equal_differs_but_for_a_nan(
    after: float, other: float, dtype: str, differs: bool
) -> None:
    one, another = (change("mean", 0, it, dtype) for it in (after, other))
    (row,) = state_rows({"torch-tape": (one,), "torch-graph": (another,)})
    assert row.differs is differs


def test_an_engine_that_leaves_a_tensor_as_it_was_is_compared_within_its_framework() -> None:
    state = {
        "torch-tape": (change("count", 0, 1, "int64"),),
        "torch-graph": (),
        "mindspore-tape": (),
    }
    (row,) = state_rows(state)
    assert [group.engines for group in row.groups] == [("torch-tape",), ("torch-graph",)]
    assert row.absent == ("mindspore-tape",)


def test_no_row_without_a_change() -> None:
    assert state_rows({"torch-tape": (), "torch-graph": ()}) == ()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_what_the_wider_of_two_tables_allows_is_the_same_state(dtype: str) -> None:
    tables = TORCH_TABLE[dtype], MINDSPORE_TABLE[dtype]
    widest = max(rtol + atol for rtol, atol in tables)
    carried = "float32" if dtype == "bfloat16" else dtype
    for share, differs in ((0.5, False), (2.0, True)):
        afters = [np.array([after], carried) for after in (1.0, 1.0 + share * widest)]
        before = pack(np.zeros(1, carried), dtype)
        changes = [(StateChange("mean", before, pack(after, dtype)),) for after in afters]
        (row,) = state_rows(dict(zip(("mindspore-tape", "torch-tape"), changes, strict=True)))
        assert row.differs == differs


@pytest.mark.parametrize(("dtype", "real"), [("complex64", "float32"), ("complex128", "float64")])
def test_complex_numbers_are_the_same_within_the_tolerance_of_their_parts(
    dtype: str, real: str
) -> None:
    rtol, _ = TORCH_TABLE[real]
    for off, differs in ((rtol / 2, False), (100 * MINDSPORE_TABLE[real][0], True)):
        changes = []
        for after in (1 + 2j, (1 + 2j) * (1 + off)):
            pair = [pack(np.array([value], dtype), dtype) for value in (0, after)]
            changes.append((StateChange("phase", *pair),))
        (row,) = state_rows(dict(zip(("mindspore-tape", "torch-tape"), changes, strict=True)))
        assert row.differs == differs
