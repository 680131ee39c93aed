"""What a report keeps of large tensors: figures, the first elements, and those that differences name."""

import msgspec
import numpy as np
import pytest

from explorer.compare.results.verdicts import judge
from explorer.exploration.outcomes import abridged, abridged_leaf
from explorer.model.arrays import LARGE, SMALL, Array, element, first_elements, pack, unpack
from explorer.model.cases import GradCase
from explorer.model.report import CaseReport
from explorer.model.results import Leaf
from explorer.report.json import array_document
from explorer.text.numbers import digits, tensor_digits
from explorer.words.groups import worded_answers
from tests.support.results import NO_ORACLE, dx

SHAPE = (LARGE // 64 + 1, 64)
VALUES = np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)
PLACE = (200, 7)


@pytest.fixture(scope="module")
def judged() -> CaseReport:
    other = VALUES.copy()
    other[PLACE] += 1.0
    results = {"mindspore-tape": dx(VALUES), "torch-tape": dx(other)}
    return judge(GradCase("grad", None, "one"), results, NO_ORACLE)


def value_of(report: CaseReport, engine: str) -> Array:
    return report.results[engine].leaves[0].value


def test_a_large_tensor_is_kept_as_an_excerpt_of_a_tenth_of_its_bytes(judged: CaseReport) -> None:
    kept = abridged(judged)
    assert kept.verdict == judged.verdict == "differs"
    whole, brief = (len(msgspec.msgpack.encode(report)) for report in (judged, kept))
    assert brief < whole / 10
    with pytest.raises(ValueError, match="reshape"):
        unpack(value_of(kept, "torch-tape"))


def test_what_faces_show_of_it_is_what_they_show_of_all_elements(judged: CaseReport) -> None:
    kept = abridged(judged)
    for engine in judged.results:
        whole, brief = value_of(judged, engine), value_of(kept, engine)
        assert tensor_digits(brief) == tensor_digits(whole) == digits(unpack(whole))
        assert array_document(brief) == array_document(whole)
        assert element(brief, PLACE) == unpack(whole)[PLACE]
        assert np.array_equal(first_elements(brief), unpack(whole).ravel()[:SMALL])
    assert worded_answers(kept) == worded_answers(judged)
    assert "dx[200, 7]" in worded_answers(kept)[0].text


@pytest.mark.parametrize("dtype", ["float64", "float16", "complex64", "int32"])
def test_an_excerpt_holds_numbers_of_every_dtype(dtype: str) -> None:
    values = (100 * VALUES).astype(dtype)
    leaf = abridged_leaf(Leaf("dw", pack(values)), (PLACE, (0, 1)))
    assert element(leaf.value, PLACE) == values[PLACE]
    assert element(leaf.value, (0, 1)) == values[0, 1]
    # What nothing names is not there.
    assert element(leaf.value, (100, 0)) is None
    assert (leaf.value.shape, leaf.value.dtype) == (SHAPE, dtype)


def test_bfloat16_keeps_the_elements_of_its_carrier() -> None:
    leaf = abridged_leaf(Leaf("dw", pack(VALUES, "bfloat16")), (PLACE,))
    assert element(leaf.value, PLACE) == VALUES[PLACE]


def test_a_tensor_of_exactly_large_elements_is_kept_whole() -> None:
    leaf = Leaf("dw", pack(np.ones(LARGE, np.float32)))
    assert abridged_leaf(leaf).value is leaf.value
    assert abridged_leaf(Leaf("dw", pack(np.ones(LARGE + 1, np.float32)))).value.excerpt


def test_an_excerpt_comes_back_from_its_bytes_and_is_not_shortened_again(
    judged: CaseReport,
) -> None:
    kept = abridged(judged)
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(kept), type=CaseReport)
    assert again == kept
    assert abridged(again) == kept


def test_a_small_array_is_written_as_before() -> None:
    assert set(msgspec.to_builtins(pack(np.ones(3)))) == {"shape", "dtype", "data"}


@pytest.mark.parametrize("place", [0, SMALL - 1, SMALL, SMALL + 1, VALUES.size - 1])
def test_wherever_a_difference_is_its_element_is_kept(place: int) -> None:
    index = tuple(map(int, np.unravel_index(place, SHAPE)))
    kept = abridged_leaf(Leaf("dw", pack(VALUES)), (index,))
    assert element(kept.value, index) == VALUES[index]
