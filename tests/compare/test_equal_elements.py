"""Inputs of one number, which hide mistakes, beside a divergence without a cause."""

import msgspec
import numpy as np
import pytest

from explorer.compare.results.remarks import equal_elements
from explorer.model.alignment import Seen
from explorer.model.arrays import AnyArray
from explorer.model.findings import EqualElements
from explorer.model.known import Reference
from tests.support.sample_report import DIVERGENCE, alignment

FOUND = alignment("mindspore-tape", "torch-tape", DIVERGENCE)
UNEXPLAINED = msgspec.structs.replace(FOUND, expected=False)
KNOWN = Seen(DIVERGENCE, known=(Reference("surprise", "selu"),))
INPUTS: dict[str, AnyArray] = {
    "ones": np.ones((2, 3), np.float32),
    "zeros": np.zeros(2),
    "mask": np.ones(3, np.int32),
    "random": np.array([1.0, 2.0]),
    "scalar": np.array(1.0),
    "nothing": np.zeros((0, 3)),
    "nan": np.full(2, np.nan),
}


def test_inputs_of_one_number_are_remarked_where_a_divergence_has_no_cause() -> None:
    (finding,) = equal_elements(INPUTS, [UNEXPLAINED])
    assert finding.fact == EqualElements({"ones": 1.0, "zeros": 0.0})
    assert equal_elements({"x": INPUTS["random"]}, [UNEXPLAINED]) == ()


@pytest.mark.parametrize(
    ("changes", "is_remarked"),
    [
        ({"seen": ()}, False),
        ({"expected": True}, False),
        ({"seen": (KNOWN,)}, False),
        ({"seen": (KNOWN, Seen(DIVERGENCE, run=1, values=1))}, True),
    ],
)
def test_what_is_expected_or_known_is_not_hidden(
    changes: dict[str, object], is_remarked: bool
) -> None:
    found = msgspec.structs.replace(UNEXPLAINED, **changes)
    assert bool(equal_elements(INPUTS, [found])) == is_remarked
