"""Complex arrays in figures, differences and documents."""

import json

import numpy as np

from explorer.compare.results import compare
from explorer.model.arrays import AnyArray, pack
from explorer.model.results import Leaf, Result
from explorer.numeric.differences import real_parts
from explorer.numeric.summaries import summarise
from explorer.report.json import array_document, encode

SPECTRUM = np.array([3 + 4j, -1j, 0], np.complex64)


def test_figures_are_those_of_all_real_and_imaginary_parts() -> None:
    summary = summarise(SPECTRUM)
    assert (summary.minimum, summary.maximum) == (-1, 4)
    assert summary.norm == np.sqrt(26)
    assert summary.zeros == 3
    assert summarise(SPECTRUM.conj()).quantiles != summary.quantiles


def test_a_not_finite_part_counts() -> None:
    assert summarise(np.array([complex(1, np.inf)])).nonfinite == 1


def test_a_real_array_is_its_own_parts() -> None:
    real = np.ones(3)
    assert real_parts(real) is real


def test_results_that_differ_in_the_imaginary_part_alone_differ() -> None:
    def result(value: AnyArray) -> Result:
        return Result(outcome="ok", structure="out", leaves=(Leaf("out", pack(value)),))

    assert compare(result(SPECTRUM), result(SPECTRUM)).verdict == "match"
    rounded = compare(result(SPECTRUM), result(SPECTRUM * np.complex64(1 + 1e-7)))
    assert rounded.verdict == "match"
    assert compare(result(SPECTRUM), result(SPECTRUM.conj())).verdict == "differs"


def test_json_has_both_parts_by_name() -> None:
    document = json.loads(encode({"values": array_document(pack(SPECTRUM[:2]))}))
    assert document["values"] == [{"re": 3, "im": 4}, {"re": 0, "im": -1}]
