"""Parameters of one net that are several of the other's."""

import numpy as np

from explorer.model.requests import ParameterSpec
from explorer.scenario.packing import Pack, packs
from tests.scenario.test_correspondence import spec
from tests.scenario.test_pairing import dense


def projections(*paths: str, width: int = 4) -> list[ParameterSpec]:
    return [item for path in paths for item in dense(path, width)]


def paths(found: tuple[Pack, ...]) -> list[tuple[str, str, list[str]]]:
    return [(pack.holder, pack.whole.path, [part.path for part in pack.parts]) for pack in found]


def test_weights_and_biases_are_packed_each_for_themselves_on_either_side() -> None:
    split, whole = projections("a.q", "a.k", "a.v"), dense("b.qkv", 12)
    expected = [
        ("b.qkv.weight", ["a.q.weight", "a.k.weight", "a.v.weight"]),
        ("b.qkv.bias", ["a.q.bias", "a.k.bias", "a.v.bias"]),
    ]
    assert paths(packs(split, whole)) == [("torch", *pair) for pair in expected]
    assert paths(packs(whole, split)) == [("mindspore", *pair) for pair in expected]


def test_blocks_are_packed_in_order_and_parts_may_be_of_other_sizes() -> None:
    split = [*projections("0.q", "0.k"), *projections("1.q", "1.k")]
    whole = [*dense("x.qk", 8), *dense("y.qk", 8)]
    found = paths(packs(split, whole))
    assert found[0] == ("torch", "x.qk.weight", ["0.q.weight", "0.k.weight"])
    assert found[2] == ("torch", "y.qk.weight", ["1.q.weight", "1.k.weight"])
    uneven = [*dense("a.r", 5), *dense("a.d", 3)]
    (weights, _) = packs(uneven, dense("c", 8))
    assert weights.rows == (slice(0, 5), slice(5, 8))


def test_parts_of_other_modules_kinds_or_widths_are_no_pack() -> None:
    whole = [spec("qk.weight", shape=(8, 4))]
    assert packs([spec("a.q.weight", shape=(4, 4)), spec("b.k.weight", shape=(4, 4))], whole) == ()
    assert packs([spec("a.q.weight", shape=(4, 3)), spec("a.k.weight", shape=(4, 3))], whole) == ()
    assert packs([spec("a.q.weight", shape=(4, 4)), spec("a.k.bias", shape=(4,))], whole) == ()
    assert packs([spec("a.q.weight", shape=(4, 4))], whole) == ()
    assert packs([spec("a.q", shape=(4, 4)), spec("a.k", shape=(4, 4))], whole) == ()


def test_a_part_has_the_name_of_the_whole_with_its_rows_and_their_values() -> None:
    (pack,) = packs(
        [spec("a.q.weight", shape=(4, 4)), spec("a.k.weight", shape=(4, 4))],
        [spec("b.qk.weight", shape=(8, 4, 1))],
    )
    assert pack.names == {"a.q.weight": "b.qk.weight[0:4]", "a.k.weight": "b.qk.weight[4:8]"}
    whole = np.arange(32).reshape(8, 4, 1)
    assert [part.tolist() for part in pack.split(whole)] == [
        whole[:4, :, 0].tolist(),
        whole[4:, :, 0].tolist(),
    ]
    assert pack.pieces.own == {"b.qk.weight[0:4]": (4, 4), "b.qk.weight[4:8]": (4, 4)}
    assert pack.pieces.torch == {"b.qk.weight": (8, 4, 1)}
    assert pack.is_trained
    assert not pack._replace(whole=spec("w", "buffer")).is_trained
