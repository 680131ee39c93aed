"""The numbers that scales of rounding rest on."""

import numpy as np

from explorer.numeric.summaries import GREATEST


def test_the_greatest_numbers_are_those_of_the_dtypes() -> None:
    for dtype in ("float64", "float32", "float16"):
        assert np.finfo(dtype).max == GREATEST[dtype]
    # The bits of the greatest bfloat16, 0x7F7F, are the upper half of a float32.
    assert np.array([0x7F7F0000], np.uint32).view(np.float32)[0] == GREATEST["bfloat16"]
    assert GREATEST["complex64"] == GREATEST["float32"]
    assert GREATEST["complex128"] == GREATEST["float64"]
