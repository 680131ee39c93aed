"""Which parameters of two nets with other names are proposed as the same, and which are not."""

import pytest

from explorer.model.requests import Description
from explorer.scenario.proposals import entries, fits, kind_of, propose
from tests.scenario.test_correspondence import net, spec


def proposed(mindspore: Description, torch: Description) -> dict[str, str]:
    return entries(propose(mindspore, torch), mindspore, torch)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("bn.weight", "weight"),
        ("bn.bias", "bias"),
        ("bn.running_var", "running_var"),
        ("lstm.weight_ih_l0", "weight_ih"),
        ("lstm.bias_hh_l1_reverse", "bias_hh"),
        ("attention.in_proj_weight", "in_proj_weight"),
        ("weight_net.scale", ""),
    ],
)
def test_a_kind_is_told_by_the_last_name(name: str, kind: str) -> None:
    assert kind_of(spec(name)) == kind


def test_a_weight_is_no_bias_and_sizes_are_the_same() -> None:
    assert not fits(spec("a.weight"), spec("b.bias"))
    assert not fits(spec("a.weight_ih_l0"), spec("b.weight_hh_l0"))
    assert not fits(spec("a.weight"), spec("b.weight", shape=(3,)))
    assert fits(spec("a.weight", shape=(6,)), spec("b.weight", shape=(2, 3)))
    assert fits(spec("a.scale"), spec("b.bias"))


def test_a_cell_is_proposed_whole_and_gamma_stays_gamma() -> None:
    mindspore = net(
        spec("conv.weight", shape=(3, 3)),
        spec("down_sample.0.weight", shape=(4, 2)),
        spec("down_sample.1.weight", path="down_sample.1.gamma"),
        spec("down_sample.1.bias", path="down_sample.1.beta"),
    )
    torch = net(
        spec("conv.weight", shape=(3, 3)),
        spec("downsample.0.weight", shape=(4, 2)),
        spec("downsample.1.bias"),  # in the other order too
        spec("downsample.1.weight"),
    )
    assert proposed(mindspore, torch) == {"down_sample": "downsample"}


def test_a_gamma_without_its_weight_is_proposed_for_no_bias() -> None:
    mindspore = net(spec("norm.weight", path="norm.gamma"), spec("fc.weight", shape=(3, 3)))
    torch = net(spec("bn.bias"), spec("linear.weight", shape=(3, 3)))
    assert proposed(mindspore, torch) == {"fc": "linear"}
    assert propose(mindspore, torch).undecided == ()


def test_a_cell_is_called_otherwise_only_where_that_is_right_for_all_of_it() -> None:
    mindspore = net(spec("a.x.weight"), spec("a.y.weight", shape=(3,)))
    torch = net(spec("b.x.weight"), spec("a.y.weight", shape=(3,)))
    assert proposed(mindspore, torch) == {"a.x": "b.x"}
    at_the_top = net(spec("weight", path="gamma"), spec("y", shape=(3,)))
    assert proposed(at_the_top, net(spec("bn.weight"), spec("y", shape=(3,)))) == {
        "gamma": "bn.weight"
    }


def test_statistics_that_a_cell_s_new_name_would_lose_keep_it_from_being_proposed() -> None:
    mindspore = net(
        spec("norm.weight", path="norm.gamma"),
        spec("norm.running_mean", "frozen", path="norm.moving_mean"),
    )
    with_mean = net(spec("bn.weight"), spec("bn.running_mean", "buffer"))
    assert proposed(mindspore, with_mean) == {"norm": "bn"}
    assert proposed(mindspore, net(spec("bn.weight"))) == {"norm.gamma": "bn.weight"}


def test_modules_go_by_name_before_they_go_by_order() -> None:
    mindspore = net(spec("enc.key.weight"), spec("enc.query.weight"))
    torch = net(spec("encoder.query.weight"), spec("encoder.key.weight"))
    proposal = propose(mindspore, torch)
    assert [(one.name, other.name) for one, other in proposal.pairs] == [
        ("enc.key.weight", "encoder.key.weight"),
        ("enc.query.weight", "encoder.query.weight"),
    ]
    assert proposal.unsure == ()
    assert proposed(mindspore, torch) == {"enc": "encoder"}


def test_a_module_that_two_are_like_belongs_to_the_liker_one_alone() -> None:
    mindspore = net(spec("enc.weight"), spec("encoder.weight"))
    assert proposed(mindspore, net(spec("encoders.weight"))) == {"encoder": "encoders"}


def test_names_that_do_not_tell_leave_the_order_and_the_proposal_says_so() -> None:
    mindspore = net(spec("layers.0.weight"), spec("layers.1.weight"))
    torch = net(spec("hidden.weight"), spec("again.weight"))
    assert proposed(mindspore, torch) == {"layers.0": "hidden", "layers.1": "again"}
    assert propose(mindspore, torch).unsure == ("layers.0", "layers.1")
    one_more = net(*torch.parameters, spec("out.weight"))
    assert proposed(mindspore, one_more) == {}
    assert propose(mindspore, one_more).undecided == ("layers.0.weight", "layers.1.weight")


def test_what_all_names_of_a_side_begin_with_tells_nothing() -> None:
    mindspore = net(spec("backbone.b.weight"), spec("backbone.a.weight"))
    torch = net(spec("a.weight"), spec("b.weight"))
    assert proposed(mindspore, torch) == {"backbone.b": "b", "backbone.a": "a"}
    assert propose(mindspore, torch).unsure == ()


def test_a_few_letters_decide_and_are_told_to_be_few() -> None:
    mindspore = net(*(spec(f"{name}.weight") for name in "vkqo"))
    torch = net(*(spec(f"{name}.weight") for name in ("query", "key", "value", "output")))
    assert proposed(mindspore, torch) == {"v": "value", "k": "key", "q": "query", "o": "output"}
    assert propose(mindspore, torch).unsure == ("v", "q", "o")


def test_letters_that_say_this_and_that_decide_nothing() -> None:
    mindspore = net(*(spec(f"{name}_proj.weight") for name in ("key", "query", "out")))
    torch = net(*(spec(f"{name}.weight") for name in ("wq", "wk", "wo")))
    proposal = propose(mindspore, torch)
    paired = {one.name: other.name for one, other in proposal.pairs}
    assert (
        paired.items()
        <= {
            "key_proj.weight": "wk.weight",
            "query_proj.weight": "wq.weight",
            "out_proj.weight": "wo.weight",
        }.items()
    )


def test_a_batch_norm_has_statistics_and_a_layer_norm_has_none() -> None:
    mindspore = net(
        spec("first.weight", path="first.gamma"),
        spec("first.running_mean", "frozen", path="first.moving_mean"),
        spec("second.weight", path="second.gamma"),
    )
    torch = net(spec("ln.weight"), spec("bn.weight"), spec("bn.running_mean", "buffer"))
    assert proposed(mindspore, torch) == {"first": "bn", "second": "ln"}


def test_a_pair_that_crosses_a_layer_of_one_name_is_not_proposed() -> None:
    mindspore = net(spec("layer1.weight"), spec("layer2.weight"))
    torch = net(spec("layer0.weight"), spec("layer1.weight"))
    assert proposed(mindspore, torch) == {}
    assert propose(mindspore, torch).undecided == ("layer2.weight",)
    in_order = net(spec("layer1.weight"), spec("last.weight"))
    assert proposed(mindspore, in_order) == {"layer2": "last"}


def test_scale_and_shift_are_a_guess_and_no_guess_is_proposed() -> None:
    mindspore = net(spec("n.weight", path="n.gamma"), spec("n.bias", path="n.beta"))
    torch = net(spec("m.a_2"), spec("m.b_2"))
    assert proposed(mindspore, torch) == {}
    assert propose(mindspore, torch).undecided == ("n.gamma", "n.beta")


def test_a_lone_partner_that_is_not_trained_gives_way_to_one_that_is() -> None:
    mindspore = net(spec("a"))
    assert proposed(mindspore, net(spec("t", "buffer"), spec("b"))) == {"a": "b"}
    assert proposed(mindspore, net(spec("t", "buffer"))) == {"a": "t"}
