"""Arguments and settings of two sides differ where they do after translation, and not by their names."""

import pytest

from explorer.correspondence.comparison import (
    Call,
    differing_arguments,
    differing_settings,
    other_settings,
)
from explorer.model.graph import Arguments

CONV: Arguments = {"stride": 1, "dilation": 1, "kernel_size": (3, 3)}
HERE: Arguments = {**CONV, "pad_mode": "same", "padding": 0, "group": 1, "has_bias": True}
THERE: Arguments = {**CONV, "groups": 1, "bias": True}


def both_ways(
    name: str, here: Arguments, other: str, there: Arguments
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The settings that differ, in MindSpore and in PyTorch, the same from either side."""
    mindspore, torch = Call("mindspore", name, here), Call("torch", other, there)
    ours, theirs = differing_settings(mindspore, torch)
    assert differing_settings(torch, mindspore) == (theirs, ours)
    return ours, theirs


@pytest.mark.parametrize(
    ("momentum", "differs"), [(0.9, False), (0.1, True), (0.90000001, False), (0.901, True)]
)
def test_a_momentum_is_the_same_the_other_way_round(momentum: float, differs: bool) -> None:
    found = both_ways("nn.BatchNorm2d", {"momentum": momentum}, "nn.BatchNorm2d", {"momentum": 0.1})
    assert found == ((("momentum",), ("momentum",)) if differs else ((), ()))


def test_arguments_of_other_names_are_compared() -> None:
    ours: Arguments = {"epsilon": 1e-7}
    assert both_ways("nn.LayerNorm", ours, "nn.LayerNorm", {"eps": 1e-5}) == (
        ("epsilon",),
        ("eps",),
    )
    assert both_ways("nn.LayerNorm", ours, "nn.LayerNorm", {"eps": 1e-7}) == ((), ())


@pytest.mark.parametrize(
    ("padding", "differs"), [(0, True), (1, False), ((1, 1), False), (2, True)]
)
def test_padding_by_mode_is_the_padding_that_these_windows_take(
    padding: int | tuple[int, ...], differs: bool
) -> None:
    found = both_ways("nn.Conv2d", HERE, "nn.Conv2d", {**THERE, "padding": padding})
    assert found == ((("pad_mode", "padding"), ("padding",)) if differs else ((), ()))


def test_a_bias_that_one_side_lacks_differs() -> None:
    found = both_ways(
        "nn.Conv2d", {**HERE, "has_bias": False}, "nn.Conv2d", {**THERE, "padding": 1}
    )
    assert found == (("has_bias",), ("bias",))


def test_a_value_that_the_other_side_cannot_express_differs() -> None:
    ours, _ = both_ways("nn.ELU", {"alpha": 1.0}, "nn.ELU", {"alpha": 0.5})
    assert ours == ("alpha",)


@pytest.mark.parametrize(("axis", "differs"), [(-1, False), (1, False), (0, True)])
def test_an_axis_may_count_from_either_end(axis: int, differs: bool) -> None:
    ours = Call("mindspore", "Softmax", {"axis": (axis,)}, 2)
    theirs = Call("torch", "aten._softmax.default", {"dim": 1}, 2)
    assert differing_arguments(ours, theirs) == ((("axis",), ("dim",)) if differs else ((), ()))


def test_ops_of_one_framework_and_unknown_ones_are_compared_by_name() -> None:
    one, other = (
        Call("torch", "aten.x", {"eps": 1.0, "p": 1}),
        Call("torch", "aten.x", {"eps": 2.0}),
    )
    assert differing_arguments(one, other) == (("eps",), ("eps",))
    unknown = Call("mindspore", "Unheard", {"eps": 2.0, "q": 1})
    assert differing_arguments(one, unknown) == (("eps",), ("eps",))


def test_settings_are_given_with_their_values_where_the_table_has_the_two_layers() -> None:
    ours, theirs = other_settings(
        Call("mindspore", "nn.BatchNorm2d", {"eps": 1e-3, "momentum": 0.9}),
        Call("torch", "nn.BatchNorm2d", {"eps": 1e-5, "momentum": 0.1}),
    )
    assert (ours, theirs) == ({"eps": 1e-3}, {"eps": 1e-5})
    unknown = Call("torch", "Own", {"eps": 1e-5})
    assert other_settings(Call("mindspore", "nn.BatchNorm2d", {"eps": 1e-3}), unknown) == ({}, {})
