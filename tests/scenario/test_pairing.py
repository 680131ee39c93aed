"""Which parameters of two nets are the same, by names, order, kind and shape; and which are packed."""

from collections.abc import Iterable

import numpy as np
import pytest

from explorer.model.requests import ParameterSpec
from explorer.scenario.packing import Pack, packs
from explorer.scenario.pairing import How, Pairing, candidates, fits, kind_of
from tests.scenario.test_correspondence import spec
from tests.support.tables import rows


def conv(path: str, out: int = 4, inside: int = 4, name: str = "") -> list[ParameterSpec]:
    """A convolution without a bias."""
    return [spec(f"{name or path}.weight", shape=(out, inside, 3, 3), path=f"{path}.weight")]


def dense(path: str, out: int = 4, inside: int = 4) -> list[ParameterSpec]:
    """A dense layer."""
    return [spec(f"{path}.weight", shape=(out, inside)), spec(f"{path}.bias", shape=(out,))]


def batch_norm(path: str, width: int = 4) -> list[ParameterSpec]:
    """A batch norm as MindSpore declares it: its statistics first."""
    return [
        spec(f"{path}.running_mean", "frozen", (width,), f"{path}.moving_mean"),
        spec(f"{path}.running_var", "frozen", (width,), f"{path}.moving_variance"),
        spec(f"{path}.weight", shape=(width,), path=f"{path}.gamma"),
        spec(f"{path}.bias", shape=(width,), path=f"{path}.beta"),
    ]


def torch_norm(path: str, width: int = 4) -> list[ParameterSpec]:
    """A batch norm as PyTorch declares it."""
    return [
        spec(f"{path}.weight", shape=(width,)),
        spec(f"{path}.bias", shape=(width,)),
        spec(f"{path}.running_mean", "buffer", (width,)),
        spec(f"{path}.running_var", "buffer", (width,)),
    ]


def layers(*parts: Iterable[ParameterSpec]) -> list[ParameterSpec]:
    return [item for part in parts for item in part]


def only(mindspore: list[ParameterSpec], torch: list[ParameterSpec]) -> Pairing:
    """The one pairing that there is."""
    (pairing,) = candidates(mindspore, torch)
    return pairing


def ways(pairing: Pairing) -> dict[str, How]:
    return {pair.mindspore.path: pair.how for pair in pairing.pairs}


# Kinds


@pytest.mark.parametrize(("name", "kind"), rows(__file__, "test_a_kind_is_told_by_the_last_name"))
def test_a_kind_is_told_by_the_last_name(name: str, kind: str) -> None:
    assert kind_of(spec(name)) == kind


def test_a_weight_is_no_bias_and_sizes_are_the_same() -> None:
    assert not fits(spec("a.weight"), spec("b.bias"))
    assert not fits(spec("a.weight_ih_l0"), spec("b.weight_hh_l0"))
    assert not fits(spec("a.weight"), spec("b.weight", shape=(3,)))
    assert fits(spec("a.weight", shape=(6,)), spec("b.weight", shape=(2, 3)))
    assert fits(spec("a.scale"), spec("b.bias"))


def test_gamma_goes_with_weight_and_beta_with_bias_in_whatever_order() -> None:
    mindspore = batch_norm("features.1")
    torch = torch_norm("bn")
    for order in (torch, torch[::-1]):
        assert only(mindspore, order).names == {
            "features.1.gamma": "bn.weight",
            "features.1.beta": "bn.bias",
            "features.1.moving_mean": "bn.running_mean",
            "features.1.moving_variance": "bn.running_var",
        }


def test_a_batch_norm_is_no_layer_norm_though_their_weights_have_one_shape() -> None:
    mindspore = [*batch_norm("first"), *batch_norm("second")[2:]]
    torch = [spec("ln.weight", shape=(4,)), spec("ln.bias", shape=(4,)), *torch_norm("bn")]
    pairing = only(mindspore, torch)
    assert pairing.names["first.gamma"] == "bn.weight"
    assert pairing.names["second.gamma"] == "ln.weight"
    alone = only(batch_norm("first"), torch[:2])
    assert alone.names == {}


# Names, order and shapes


def test_sequences_are_paired_in_order_whatever_levels_are_around_them() -> None:
    mindspore = layers(
        conv("features.0"), batch_norm("features.1"), conv("features.3"), batch_norm("features.4")
    )
    torch = layers(
        conv("stem.0"), torch_norm("stem.1"), conv("body.0.conv.0"), torch_norm("body.0.conv.1")
    )
    names = only(mindspore, torch).names
    assert names["features.0.weight"] == "stem.0.weight"
    assert names["features.3.weight"] == "body.0.conv.0.weight"
    assert names["features.4.moving_mean"] == "body.0.conv.1.running_mean"


def test_siblings_declared_in_another_order_go_by_their_names() -> None:
    mindspore = layers(dense("enc.key"), dense("enc.query"))
    torch = layers(dense("encoder.query"), dense("encoder.key"))
    by_name, by_order = candidates(mindspore, torch)
    assert by_name.names["enc.key.weight"] == "encoder.key.weight"
    assert set(ways(by_name).values()) == {"name"}
    # That they are declared otherwise leaves a doubt, which values settle.
    assert by_order.names["enc.key.weight"] == "encoder.query.weight"


def test_siblings_whose_names_say_nothing_are_a_guess() -> None:
    pairing = only(layers(dense("this"), dense("that")), layers(dense("hidden"), dense("again")))
    assert pairing.names["this.weight"] == "hidden.weight"
    assert set(ways(pairing).values()) == {"guess"}
    numbers = only(layers(dense("layers.0"), dense("layers.1")), layers(dense("a"), dense("b")))
    assert set(ways(numbers).values()) == {"order"}


def test_a_shape_that_no_other_has_needs_no_name() -> None:
    pairing = only(layers(dense("x", 3), dense("y", 2)), layers(dense("b", 2), dense("a", 3)))
    assert pairing.names["x.weight"] == "a.weight"
    assert pairing.names["y.bias"] == "b.bias"
    assert set(ways(pairing).values()) == {"shape"}


def test_the_tree_decides_between_layers_of_one_shape_in_modules_of_other_contents() -> None:
    mindspore = layers(conv("left.a"), conv("left.b", 8), conv("right.a"), conv("right.b", 16))
    torch = layers(conv("two.x"), conv("two.y", 16), conv("one.x"), conv("one.y", 8))
    by_tree = next(
        pairing
        for pairing in candidates(mindspore, torch)
        if pairing.names["left.a.weight"] == "one.x.weight"
    )
    assert by_tree.names["right.a.weight"] == "two.x.weight"
    assert by_tree.is_complete


def test_equal_numbers_in_sequences_of_other_lengths_mean_nothing() -> None:
    mindspore = layers(*(conv(f"features.{n}") for n in range(4)))
    torch = layers(conv("layers.0.0"), conv("layers.0.1"), conv("layers.1.0"), conv("layers.1.1"))
    assert list(only(mindspore, torch).names.values()) == [
        "layers.0.0.weight",
        "layers.0.1.weight",
        "layers.1.0.weight",
        "layers.1.1.weight",
    ]


def test_a_dense_layer_is_a_convolution_of_one_by_one() -> None:
    mindspore = [spec("se.fc.weight", shape=(8, 4)), spec("scale", shape=(1, 1, 1, 5))]
    torch = [spec("se.conv.weight", shape=(8, 4, 1, 1)), spec("gain", shape=(5,))]
    assert only(mindspore, torch).names == {"se.fc.weight": "se.conv.weight", "scale": "gain"}


def test_a_table_is_found_in_a_module_of_its_own() -> None:
    mindspore = [spec("block.scale_1", shape=(3,)), *dense("block.fc")]
    torch = [*dense("stage.fc"), spec("stage.scale1.values", shape=(3,))]
    assert only(mindspore, torch).names["block.scale_1"] == "stage.scale1.values"


def test_layers_with_a_bias_and_without_it_have_one_weight() -> None:
    mindspore = layers(conv("f.0"), conv("f.1"))
    torch = layers(*([*conv(path), spec(f"{path}.bias", shape=(4,))] for path in ("g.0", "g.1")))
    pairing = only(mindspore, torch)
    assert pairing.names == {"f.0.weight": "g.0.weight", "f.1.weight": "g.1.weight"}
    assert [left.name for left in pairing.torch] == ["g.0.bias", "g.1.bias"]
    assert not pairing.is_complete


def test_one_layer_more_leaves_its_shape_unpaired() -> None:
    pairing = only(layers(dense("a"), dense("b")), layers(dense("x"), dense("y"), dense("z")))
    assert pairing.names == {}
    assert len(pairing.mindspore) == 4
    assert len(pairing.torch) == 6


def test_a_name_that_is_equal_and_an_order_that_is_not_are_two_candidates() -> None:
    mindspore = layers(dense("layer1"), dense("layer2"))
    torch = layers(dense("layer0"), dense("layer1"))
    found = [pairing.names["layer2.weight"] for pairing in candidates(mindspore, torch)]
    assert sorted(found) == ["layer0.weight", "layer1.weight"]


def test_integers_and_masks_take_no_part() -> None:
    steps = spec("steps", dtype="int64")
    mask = spec("mask", "frozen", (4,))
    pairing = only([*dense("a"), steps, mask], dense("b"))
    assert pairing.is_complete
    assert pairing.mindspore == ()


def paths(found: tuple[Pack, ...]) -> list[tuple[str, str, list[str]]]:
    return [(pack.holder, pack.whole.path, [part.path for part in pack.parts]) for pack in found]


def test_weights_and_biases_are_packed_each_for_themselves_on_either_side() -> None:
    split, whole = layers(dense("a.q"), dense("a.k"), dense("a.v")), dense("b.qkv", 12)
    expected = [
        ("b.qkv.weight", ["a.q.weight", "a.k.weight", "a.v.weight"]),
        ("b.qkv.bias", ["a.q.bias", "a.k.bias", "a.v.bias"]),
    ]
    assert paths(packs(split, whole)) == [("torch", *pair) for pair in expected]
    assert paths(packs(whole, split)) == [("mindspore", *pair) for pair in expected]


def test_blocks_are_packed_in_order_and_parts_may_be_of_other_sizes() -> None:
    split = layers(dense("0.q"), dense("0.k"), dense("1.q"), dense("1.k"))
    found = paths(packs(split, layers(dense("x.qk", 8), dense("y.qk", 8))))
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
