"""Complex arrays in figures, differences and documents."""

import json

import numpy as np

from explorer.compare.graphs.sameness import elements
from explorer.compare.results.comparison import compare, movements
from explorer.engines.noise import result_noise
from explorer.model.arrays import AnyArray, pack, unpack
from explorer.model.results import Leaf, Result
from explorer.numeric.differences import real_parts
from explorer.numeric.random_arrays import jittered
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


def answer(value: AnyArray) -> Result:
    return Result(outcome="ok", structure="out", leaves=(Leaf("out", pack(value)),))


def test_results_that_differ_in_the_imaginary_part_alone_differ() -> None:
    assert compare(answer(SPECTRUM), answer(SPECTRUM)).verdict == "match"
    rounded = compare(answer(SPECTRUM), answer(SPECTRUM * np.complex64(1 + 1e-7)))
    assert rounded.verdict == "match"
    assert compare(answer(SPECTRUM), answer(SPECTRUM.conj())).verdict == "differs"


def test_json_has_both_parts_by_name() -> None:
    document = json.loads(encode({"values": array_document(pack(SPECTRUM[:2]))}))
    assert document["values"] == [{"re": 3, "im": 4}, {"re": 0, "im": -1}]


def test_the_parts_of_a_complex_number_move_apart_from_each_other() -> None:
    plain = np.full(64, 0.1 + 0.3j, np.complex64)
    moved = jittered(plain, "x", 1)
    assert moved.dtype == plain.dtype
    assert moved.shape == plain.shape
    steps = real_parts(moved) - real_parts(plain)
    # One unit in the last place up or down: 2^-27 at 0.1, 2^-25 at 0.3.
    assert set(np.abs(steps[:, 0])) == {2.0**-27}
    assert set(np.abs(steps[:, 1])) == {2.0**-25}
    assert (np.sign(steps[:, 0]) != np.sign(steps[:, 1])).any()
    assert jittered(np.array(1 + 0.3j, np.complex64), "x", 1).shape == ()


def test_noise_is_that_of_the_parts() -> None:
    plain = answer(SPECTRUM)
    moved = answer(SPECTRUM + np.complex64(0.25j))
    (noise,) = result_noise(plain, [[moved]]).leaves
    assert unpack(noise.movement).tolist() == [[0, 0.25], [0, 0.25], [0, 0.25]]
    # 7 and 23 times the noise of both.
    measured = movements(result_noise(plain, [[moved]]))
    for step, verdict in ((2.5j, "close"), (8j, "differs")):
        other = answer(SPECTRUM + np.complex64(step))
        assert compare(plain, other, noise=(measured, measured)).verdict == verdict


def test_a_part_that_becomes_nan_is_no_noise() -> None:
    plain, lost = answer(SPECTRUM), answer(SPECTRUM * np.complex64(complex(1, np.nan)))
    measured = movements(result_noise(plain, [[lost]]))
    assert compare(plain, lost, noise=(measured, measured)).verdict == "differs"


def test_equal_values_are_found_by_all_their_parts() -> None:
    whole = elements(pack(SPECTRUM))
    assert whole.tolist() == [3, 4, 0, -1, 0, 0]
    assert elements(pack(SPECTRUM.conj())).tolist() != whole.tolist()
