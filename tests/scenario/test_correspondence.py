"""Which tensor of one net is which of the other, what is said where it is none, and what is proposed."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.model.arrays import pack
from explorer.model.errors import ScenarioError
from explorer.model.findings import ReportFinding
from explorer.model.requests import Description, ParameterSpec, Role
from explorer.model.trees import DICT, LIST, Branch, branch
from explorer.scenario.correspondence import (
    Held,
    is_left_out,
    keep_their_own,
    with_statistics_named,
)
from explorer.scenario.declaration import Declaration
from explorer.scenario.load import load
from explorer.scenario.mismatches import (
    check_left_out,
    check_parameter_names,
    check_parameters,
    findings,
)
from explorer.scenario.proposals import entries, propose
from explorer.words.findings import sentence as sentence_of
from tests.support.scenario_files import MINIMAL, written


def spec(
    name: str, role: Role = "trained", shape: tuple[int, ...] = (2,), path: str = "", **how: Any
) -> ParameterSpec:
    """A tensor of zeros, or of ``value``."""
    value = how.get("value", np.zeros(shape, how.get("dtype", "float32")))
    return ParameterSpec(name, path or name, role, pack(value), how.get("own_name", ""))


def net(*specs: ParameterSpec) -> Description:
    parameters = tuple(spec for spec in specs if spec.role != "constant")
    constants = tuple(spec for spec in specs if spec.role == "constant")
    return Description(parameters, constants)


def scenario(folder: Path, text: str = "") -> Declaration:
    return load(written(folder, MINIMAL + text))


def sentences(
    folder: Path, mindspore: Description, torch: Description, text: str = ""
) -> list[str]:
    found = list(findings(scenario(folder, text), mindspore, torch))
    # Each is of a kind that there is.
    assert msgspec.json.decode(msgspec.json.encode(found), type=list[ReportFinding]) == found
    return [sentence_of(finding) for finding in found]


# Findings


@pytest.mark.parametrize(
    ("in_mindspore", "in_torch", "words"),
    [
        ("frozen", "trained", ("trained in PyTorch", "frozen (requires_grad=False) in MindSpore")),
        ("trained", "frozen", ("trained in MindSpore", "frozen (requires_grad=False) in PyTorch")),
        ("constant", "trained", ("trained in PyTorch", "a plain tensor in MindSpore")),
        ("trained", "buffer", ("trained in MindSpore", "a buffer in PyTorch")),
        ("trained", "constant", ("trained in MindSpore", "a plain tensor in PyTorch")),
    ],
)
def test_what_one_net_trains_and_the_other_does_not_is_a_finding(
    in_mindspore: Role, in_torch: Role, words: tuple[str, ...], tmp_path: Path
) -> None:
    mindspore, torch = net(spec("fc.weight", in_mindspore)), net(spec("fc.weight", in_torch))
    check_parameters(scenario(tmp_path), mindspore, torch)
    (sentence,) = sentences(tmp_path, mindspore, torch)
    assert sentence == f"fc.weight is {words[0]} and {words[1]}"


def test_what_both_do_alike_and_a_buffer_for_a_frozen_or_plain_tensor_is_no_finding(
    tmp_path: Path,
) -> None:
    alike = [spec("fc.weight"), spec("fc.bias", "frozen")]
    mindspore = net(*alike, spec("bn.running_mean", "frozen"), spec("mask", "constant"))
    buffers = [spec(name, "buffer") for name in ("bn.running_mean", "mask", "ids")]
    assert sentences(tmp_path, mindspore, net(*alike, *buffers)) == []


def test_integers_that_mindspore_trains_are_a_finding(tmp_path: Path) -> None:
    counter = spec("counter", dtype="int32")
    check_parameters(scenario(tmp_path), net(counter), net())
    (alone,) = sentences(tmp_path, net(counter), net())
    (paired,) = sentences(tmp_path, net(counter), net(spec("counter", "buffer", dtype="int64")))
    for sentence in (alone, paired):
        assert sentence.startswith("counter is trained")
        assert "int32" in sentence


def test_a_start_that_reaches_one_net_alone_is_a_finding(tmp_path: Path) -> None:
    text = "def parameters():\n    return {'mask': np.ones(2, np.float32)}\n"
    (sentence,) = sentences(tmp_path, net(), net(spec("mask", "buffer")), text)
    assert "mask, which sets a value only in PyTorch's net" in sentence
    assert (
        sentences(tmp_path, net(spec("mask", "constant")), net(spec("mask", "buffer")), text) == []
    )


def test_a_finding_that_the_scenario_expects_is_expected_and_one_that_is_missing_is_told(
    tmp_path: Path,
) -> None:
    text = (
        "EXPECTED_FINDINGS = [{'names': ('a',), 'reason': 'meant'}, "
        "{'names': ['c'], 'reason': 'once'}]\n"
    )
    mindspore = net(spec("a", "frozen"), spec("b", "frozen"), spec("c"))
    torch = net(spec("a"), spec("b"), spec("c"))
    judged = findings(scenario(tmp_path, text), mindspore, torch)
    assert [(item.names, item.kind, item.expected) for item in judged] == [
        (("a",), "role", True),
        (("b",), "role", False),
        (("c",), "missing", False),
    ]


def test_layers_with_the_same_draws_are_a_remark_that_names_them_and_their_rates(
    tmp_path: Path,
) -> None:
    mindspore = Description(masked={"drop": 0.9, "own.drop": 0.5})
    torch = Description(masked={"drop": 0.1, "head.drop": 0.5})
    (remark,) = findings(scenario(tmp_path), mindspore, torch)
    assert (remark.kind, remark.is_alarm) == ("masks", False)
    assert remark.names == ("drop", "head.drop", "own.drop")
    assert "drop (p = 0.1), head.drop (p = 0.5) in PyTorch" in sentence_of(remark)
    assert "drop (p = 0.9), own.drop (p = 0.5) in MindSpore;" in sentence_of(remark)
    for one, other, framework in (
        (mindspore, Description(), "MindSpore"),
        (Description(), torch, "PyTorch"),
    ):
        (remark,) = findings(scenario(tmp_path), one, other)
        assert f"dropout layers in {framework}'s net alone: " in sentence_of(remark)
    assert findings(scenario(tmp_path), Description(), Description()) == ()


def test_tensors_in_a_class_with_fields_are_a_finding_once_a_class(tmp_path: Path) -> None:
    output = Branch(("loss",), "Output", ("loss",))
    nested = branch(output, Branch((output, "x"), LIST), Branch(("y",), "Other", ("y",)))
    found = findings(scenario(tmp_path), Description(returned=nested), Description())
    assert [finding.names for finding in found] == [("Output",), ("Other",)]
    assert all(finding.kind == "output" and finding.is_alarm for finding in found)
    # PyTorch takes the gradient of any container.
    assert findings(scenario(tmp_path), Description(), Description(returned=nested)) == ()
    plain = branch("a", Branch(("b",), LIST), Branch(("c",), DICT, ("k",)), None)
    assert findings(scenario(tmp_path), Description(returned=plain), Description()) == ()


# Starting values


@pytest.mark.parametrize(
    ("own", "mine", "other", "theirs", "each_its_own"),
    [
        ("frozen", 0, "buffer", 1, False),
        ("constant", 0, "buffer", 0, False),
        ("constant", 0, "buffer", 1e-6, True),
        ("frozen", 0, "constant", 1e-6, True),
        # Of values that are computed in other precisions the last digits differ, and no more.
        ("constant", 1, "buffer", 1 + 9e-6, False),
        ("constant", 1, "buffer", 1 + 2e-5, True),
        ("constant", 0, "buffer", 9e-8, False),
        ("constant", 0, "buffer", 2e-7, True),
        ("constant", np.nan, "buffer", np.nan, False),
        ("constant", 0, "trained", 1, False),
        ("trained", 0, "constant", 1, False),
    ],
)
def test_a_plain_tensor_of_other_values_is_left_as_its_net_made_it(
    own: Role, mine: float, other: Role, theirs: float, each_its_own: bool
) -> None:
    mindspore = spec("m", own, value=np.full(2, mine, float))
    torch = spec("m", other, value=np.full(2, theirs, float))
    assert keep_their_own(Held(mindspore, torch)) is each_its_own


def test_a_tensor_of_another_shape_is_left_as_its_net_made_it_unless_a_length_is_one() -> None:
    alike = Held(spec("m", "constant", (2, 1)), spec("m", "buffer", (1, 2)))
    assert not keep_their_own(alike)
    assert keep_their_own(Held(spec("m", "frozen", (3,)), spec("m", "buffer", (2,))))


# Statistics of modules that are called differently


@pytest.mark.parametrize(
    ("weights", "own", "others", "pairs"),
    [
        # They are in the module that the weights are in,
        (
            {"norm.gamma": "bn.weight", "norm2.gamma": "other.weight"},
            ("norm.", "norm2."),
            ("other.", "bn."),
            {"norm.": "bn.", "norm2.": "other."},
        ),
        # at any depth, and at none.
        (
            {"x.norm.gamma": "a.x.bn.weight", "top.gamma": "weight"},
            ("x.norm.", "top."),
            ("a.x.bn.", ""),
            {"x.norm.": "a.x.bn.", "top.": ""},
        ),
        # Those of a module whose weights are apart stay as they are.
        (
            {"norm.gamma": "one.weight", "norm.beta": "two.bias"},
            ("norm.",),
            ("one.", "two."),
            {"norm.": "norm."},
        ),
        # One that already has its partner is no other's; of two that look alike none has it.
        ({}, ("bn.", "norm."), ("bn.", "last."), {"bn.": "bn.", "norm.": "last."}),
        ({}, ("bn.", "norm.", "n."), ("bn.", "last."), {"norm.": "norm."}),
        # The only one of its kind and shape is the same.
        ({}, ("norm.",), ("bn.",), {"norm.": "bn."}),
        ({}, ("norm.",), ("bn.", "b."), {"norm.": "norm."}),
    ],
)
def test_statistics_are_paired_by_their_modules_or_as_the_only_ones(
    weights: dict[str, str], own: tuple[str, ...], others: tuple[str, ...], pairs: dict[str, str]
) -> None:
    mindspore = [spec(name, path=path) for path, name in weights.items()]
    mindspore += [
        spec(f"{module}running_mean", "frozen", path=f"{module}moving_mean") for module in own
    ]
    torch = [spec(name) for name in weights.values()]
    torch += [spec(f"{module}running_mean", "buffer") for module in others]
    known = names(net(*mindspore), net(*torch))
    for module, other in pairs.items():
        assert known[f"{module}moving_mean"] == f"{other}running_mean"


def names(mindspore: Description, torch: Description) -> dict[str, str]:
    """PyTorch's names of MindSpore's parameters, by path."""
    return {spec.path: spec.name for spec in with_statistics_named(mindspore, torch).parameters}


def test_a_statistic_of_another_shape_is_another_one() -> None:
    own = spec("norm.running_mean", "frozen", path="norm.moving_mean")
    other = net(spec("bn.running_mean", "buffer", (3,)))
    assert names(net(own), other) == {"norm.moving_mean": "norm.running_mean"}


# What does not correspond


def refusal(folder: Path, mindspore: Description, torch: Description) -> str:
    with pytest.raises(ScenarioError) as caught:
        check_parameters(scenario(folder), mindspore, torch)
    return str(caught.value)


def test_a_parameter_without_a_partner_is_refused_with_the_nearest_and_the_line_to_add(
    tmp_path: Path,
) -> None:
    mindspore = net(spec("encoder.query.w", shape=(3, 2)), spec("encoder.key.w", shape=(3, 2)))
    torch = net(
        spec("enc.key.weight", shape=(3, 2)),
        spec("enc.query.weight", shape=(3, 2)),
        spec("enc.other.weight", shape=(4, 2)),
    )
    message = refusal(tmp_path, mindspore, torch)
    assert "most similar in PyTorch: enc.query.weight (3, 2), enc.key.weight (3, 2)" in message
    assert (
        "only PyTorch has enc.other.weight (4, 2); MindSpore has no unpaired parameter" in message
    )
    proposed = '{"encoder.query.w": "enc.query.weight", "encoder.key.w": "enc.key.weight"}'
    assert message.endswith(f"add PARAMETER_NAMES = {proposed}")


def test_a_weight_that_nothing_in_the_other_net_can_be_is_a_finding(tmp_path: Path) -> None:
    common = spec("fc.weight", shape=(3, 2))
    head, steps = spec("head.weight", shape=(4, 2)), spec("steps", dtype="int64")
    check_parameters(scenario(tmp_path), net(common), net(common, head))
    for mindspore, torch, side in (
        (net(common), net(common, head), "PyTorch"),
        (net(common, head, steps), net(common), "MindSpore"),
    ):
        check_parameters(scenario(tmp_path), mindspore, torch)
        (of_head,) = (
            finding
            for finding in findings(scenario(tmp_path), mindspore, torch)
            if finding.names == ("head.weight",)
        )
        assert of_head.is_alarm
        other = "MindSpore" if side == "PyTorch" else "PyTorch"
        assert f"head.weight (4, 2) is trained only in {side}: {other}'s" in sentence_of(of_head)
    # A tensor of its size that is left over may be it; its own partner cannot.
    check_parameters(scenario(tmp_path), net(common), net(common, spec("tied", shape=(3, 2))))
    refusal(tmp_path, net(common, spec("table", "constant", (4, 2))), net(common, head))
    # What neither trains needs no partner.
    table, mask = spec("table", "constant", (4, 2)), spec("mask", "buffer", (4, 2))
    check_parameters(scenario(tmp_path), net(common, table), net(common, mask))


def test_nets_of_other_widths_are_refused_from_the_first_one_on(tmp_path: Path) -> None:
    common = spec("fc.weight", shape=(3, 2))
    mindspore = net(common, spec("head.weight", shape=(4, 2)), spec("last.weight", shape=(5, 4)))
    torch = net(common, spec("head.weight", shape=(6, 2)), spec("last.weight", shape=(5, 6)))
    for other in (torch, net(common, spec("top.weight", shape=(6, 2)))):
        message = refusal(tmp_path, mindspore, other)
        assert "head.weight" in message
    assert (
        "do not match: widths differ from head.weight (4, 2) in MindSpore, top.weight (6, 2) in"
        in message
    )
    assert 'PARAMETER_NAMES = {"mindspore name"' in message


def test_a_net_without_batch_norm_is_refused_with_that_reason_and_a_few_parameters(
    tmp_path: Path,
) -> None:
    convs = [spec(f"c{n}.weight", shape=(2, 2, 3, 3)) for n in range(6)]
    biases = [spec(f"c{n}.bias") for n in range(6)]
    norms = []
    for n in range(6):
        norms += [spec(f"b{n}.weight"), spec(f"b{n}.bias"), spec(f"b{n}.running_mean", "buffer")]
    message = refusal(tmp_path, net(*convs, *biases), net(*convs, *norms))
    assert (
        "MindSpore's net has no BatchNorm, PyTorch's has 6 (the first one is b0)."
        in message.partition("\n")[0]
    )
    assert len(message.splitlines()) == 1 + 3 + 1 + 1
    assert "… and 15 more" in message
    message = refusal(tmp_path, net(*convs, *norms), net(*convs, *biases))
    assert "PyTorch's net has no BatchNorm, MindSpore's has 6" in message


def test_a_name_that_makes_a_gamma_a_bias_is_refused(tmp_path: Path) -> None:
    text = "PARAMETER_NAMES = {'norm.gamma': 'bn.bias'}\n"
    mindspore = net(spec("bn.bias", path="norm.gamma"))
    with pytest.raises(ScenarioError) as caught:
        check_parameter_names(scenario(tmp_path, text), mindspore)
    ending = "PARAMETER_NAMES: norm.gamma is a weight, and bn.bias of PyTorch's net a bias"
    assert str(caught.value).endswith(ending)
    of_unknown_kind = net(spec("norm.scale", path="norm.gamma"))
    check_parameter_names(scenario(tmp_path), of_unknown_kind)


def test_what_one_net_alone_trains_is_one_finding_where_it_is_much(tmp_path: Path) -> None:
    convs = [spec(f"c{n}.weight", shape=(2, 2, 3, 3)) for n in range(4)]
    biases = [spec(f"c{n}.bias") for n in range(4)]
    (sentence,) = sentences(tmp_path, net(*convs), net(*convs, *biases))
    assert sentence.startswith("4 weights are trained only in PyTorch, 4 of them biases (c0.bias,")
    three = sentences(tmp_path, net(*convs), net(*convs, *biases[:3]))
    assert len(three) == 3


def test_nets_of_which_no_weight_corresponds_are_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, net(spec("a", shape=(3,))), net(spec("b", shape=(2,))))
    assert "only MindSpore has a (3,); PyTorch has no unpaired parameter of this size" in message
    check_parameters(scenario(tmp_path), net(), net(spec("b")))


def test_what_is_trained_on_one_side_corresponds(tmp_path: Path) -> None:
    mindspore, torch = net(spec("w", "frozen"), spec("a")), net(spec("w"), spec("b", shape=(3,)))
    check_parameters(scenario(tmp_path), mindspore, torch)
    check_parameters(scenario(tmp_path), net(spec("w"), spec("a")), net(spec("w", "buffer")))


def test_what_is_not_trained_is_proposed_for_nothing(tmp_path: Path) -> None:
    mindspore = net(spec("a"), spec("mean", "frozen"), spec("steps", dtype="int32"))
    torch = net(spec("b"), spec("average", "buffer"))
    message = refusal(tmp_path, mindspore, torch)
    assert message.endswith('add PARAMETER_NAMES = {"a": "b"}')
    assert "only MindSpore has a (2,); most similar in PyTorch: b (2,), average (2,)\n" in message
    assert "has mean" not in message
    assert "has average" not in message


def test_of_several_that_fit_equally_three_at_most_are_named_and_none_is_proposed(
    tmp_path: Path,
) -> None:
    own = net(spec("w.one"), spec("w.two"), spec("a.fc.kernel", shape=(3, 2)))
    several = [spec(f"w.{place}") for place in range(5)]
    torch = net(*several, spec("b.fc.weight", shape=(3, 2)))
    message = refusal(tmp_path, own, torch)
    (line,) = (line for line in message.splitlines() if "only MindSpore has w.one" in line)
    assert line.count("(2,)") == 1 + 3
    assert "The counterpart of w.one, w.two in PyTorch is ambiguous" in message
    assert message.endswith('PARAMETER_NAMES = {"a.fc.kernel": "b.fc.weight"}')


def test_of_parameters_of_one_size_those_of_one_shape_are_nearer(tmp_path: Path) -> None:
    torch = net(spec("wa", shape=(3, 2)), spec("xyz", shape=(2, 3)), spec("pqr", "buffer", (2, 3)))
    message = refusal(tmp_path, net(spec("w", shape=(2, 3))), torch)
    assert "most similar in PyTorch: xyz (2, 3), pqr (2, 3), wa (3, 2)\n" in message


def test_shapes_that_a_layout_can_mend_are_refused_with_it(tmp_path: Path) -> None:
    message = refusal(tmp_path, net(spec("fc.w", shape=(2, 3))), net(spec("fc.w", shape=(3, 2))))
    assert "fc.w has shape (2, 3) in MindSpore, (3, 2) in PyTorch" in message
    assert 'LAYOUTS = {"fc.w": {"transpose": (1, 0)}}' in message
    message = refusal(tmp_path, net(spec("a", shape=(1, 6))), net(spec("b", shape=(2, 3))))
    assert 'PARAMETER_NAMES = {"a": "b"} and LAYOUTS = {"a": {"reshape": (2, 3)}}' in message
    message = refusal(tmp_path, net(spec("fc.w", shape=(2, 3))), net(spec("fc.w", shape=(4, 2))))
    assert "LAYOUTS" not in message


@pytest.mark.parametrize(("role", "other"), [("trained", "buffer"), ("frozen", "trained")])
def test_a_layout_is_proposed_where_either_side_is_trained(
    role: Role, other: Role, tmp_path: Path
) -> None:
    wide = spec("w", "trained", (4, 4))
    mindspore = net(spec("a.kernel", role, (3, 2)), spec("v", shape=(4, 4)))
    torch = net(spec("a.kernel", other, (2, 3)), wide)
    message = refusal(tmp_path, mindspore, torch)
    assert 'LAYOUTS = {"a.kernel": {"transpose": (1, 0)}}' in message


def test_a_parameter_is_shown_by_both_of_its_names(tmp_path: Path) -> None:
    mindspore = net(spec("vectors", own_name="V_l2"))
    assert "vectors (2,) (named 'V_l2')" in refusal(tmp_path, mindspore, net(spec("table")))
    # A name that says nothing new is not told.
    for own_name in ("", "vectors"):
        alike = net(spec("vectors", own_name=own_name))
        assert "(named" not in refusal(tmp_path, alike, net(spec("table")))


@pytest.mark.parametrize("name", ["vectors", "V_l2", "norm", "norm.gamma"])
def test_parameter_names_take_paths_own_names_and_modules(name: str, tmp_path: Path) -> None:
    mindspore = net(
        spec("table", path="vectors", own_name="V_l2"), spec("bn.weight", path="norm.gamma")
    )
    check_parameter_names(scenario(tmp_path, f"PARAMETER_NAMES = {{{name!r}: 'x'}}\n"), mindspore)


@pytest.mark.parametrize(
    "option", ["PARAMETER_NAMES = {'vektors': 'x'}", "LAYOUTS = {'vektors': {'squeeze': 0}}"]
)
def test_a_name_that_mindspore_s_net_does_not_have_is_refused(option: str, tmp_path: Path) -> None:
    name, _, _ = option.partition(" ")
    with pytest.raises(
        ScenarioError, match=f"{name}: .* no parameter 'vektors'; did you mean 'vectors'"
    ):
        check_parameter_names(scenario(tmp_path, option + "\n"), net(spec("vectors")))


def test_a_buffer_may_be_left_out_by_its_name_in_either_net(tmp_path: Path) -> None:
    left_out = scenario(tmp_path, "BUFFERS = {'table': None, 'rope.freqs': 'rope.f'}\n")
    assert left_out.renames == {"rope.freqs": "rope.f"}
    own, torch = spec("m", "frozen", path="table"), spec("m", "buffer")
    check_left_out(left_out, net(own), net(torch))
    assert is_left_out(left_out, Held(own, torch))
    assert is_left_out(left_out, Held(spec("table", "frozen", path="t"), spec("table", "buffer")))
    assert not is_left_out(left_out, Held(spec("other", "frozen"), spec("other", "buffer")))


@pytest.mark.parametrize("known", [spec("tabel", "frozen"), spec("table", "trained")])
def test_what_is_left_out_must_be_a_buffer_of_a_net(known: ParameterSpec, tmp_path: Path) -> None:
    left_out = scenario(tmp_path, "BUFFERS = {'table': None}\n")
    with pytest.raises(ScenarioError, match="BUFFERS: no net has a buffer 'table'"):
        check_left_out(left_out, net(known), net(known))


def proposed(mindspore: Description, torch: Description) -> dict[str, str]:
    return entries(propose(mindspore, torch).pairs, mindspore, torch)


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
    pairs = zip(mindspore.parameters, torch.parameters, strict=True)
    assert entries(pairs, mindspore, torch) == {"down_sample": "downsample"}


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
