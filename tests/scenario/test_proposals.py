"""The entries of PARAMETER_NAMES that a refusal proposes."""

from explorer.model.requests import Description
from explorer.scenario.proposals import entries, propose
from tests.scenario.test_correspondence import net, spec


def proposed(mindspore: Description, torch: Description) -> dict[str, str]:
    return entries(propose(mindspore, torch).pairs, mindspore, torch)


def couples(mindspore: Description, torch: Description) -> dict[str, str]:
    """The entries for pairs of equal last names, in order."""
    pairs = zip(mindspore.parameters, torch.parameters, strict=True)
    return entries(pairs, mindspore, torch)


def test_a_cell_is_proposed_whole_and_gamma_stays_gamma() -> None:
    mindspore = net(
        spec("down_sample.0.weight", shape=(4, 2)),
        spec("down_sample.1.weight", path="down_sample.1.gamma"),
        spec("down_sample.1.bias", path="down_sample.1.beta"),
    )
    torch = net(
        spec("downsample.0.weight", shape=(4, 2)),
        spec("downsample.1.weight"),
        spec("downsample.1.bias"),
    )
    assert couples(mindspore, torch) == {"down_sample": "downsample"}


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


def test_of_several_that_fit_the_one_in_the_likest_module_is_proposed() -> None:
    mindspore = net(spec("encoder.kernel"), spec("decoder.kernel"))
    torch = net(spec("the_encoder.w"), spec("the_decoder.w"))
    assert proposed(mindspore, torch) == {
        "encoder.kernel": "the_encoder.w",
        "decoder.kernel": "the_decoder.w",
    }
    alike = net(spec("u.w"), spec("v.w"))
    assert proposed(mindspore, alike) == {}
    assert propose(mindspore, alike).undecided == ("encoder.kernel", "decoder.kernel")


def test_a_lone_partner_that_is_not_trained_gives_way_to_one_that_is() -> None:
    mindspore = net(spec("a"))
    assert proposed(mindspore, net(spec("t", "buffer"), spec("b"))) == {"a": "b"}
    assert proposed(mindspore, net(spec("t", "buffer"))) == {"a": "t"}
