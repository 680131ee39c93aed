"""Which tensor of one net is which of the other, and what is said where it is none."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.model.arrays import pack
from explorer.model.errors import ScenarioError
from explorer.model.requests import Description, ParameterSpec, Role
from explorer.scenario.contract import Scenario
from explorer.scenario.correspondence import (
    Held,
    is_left_out,
    keep_their_own,
    with_statistics_named,
)
from explorer.scenario.findings import findings
from explorer.scenario.load import load
from explorer.scenario.refusals import check_left_out, check_parameter_names, check_parameters
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


def scenario(folder: Path, text: str = "") -> Scenario:
    return load(written(folder, MINIMAL + text))


def sentences(
    folder: Path, mindspore: Description, torch: Description, text: str = ""
) -> list[str]:
    return [finding.sentence for finding in findings(scenario(folder, text), mindspore, torch)]


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


@pytest.mark.parametrize("role", ["trained", "frozen"])
def test_what_both_nets_do_alike_is_no_finding(role: Role, tmp_path: Path) -> None:
    both = net(spec("fc.weight", role))
    assert sentences(tmp_path, both, both) == []


def test_a_buffer_here_and_a_frozen_parameter_or_a_plain_tensor_there_is_no_finding(
    tmp_path: Path,
) -> None:
    mindspore = net(spec("bn.running_mean", "frozen"), spec("mask", "constant"))
    torch = net(spec("bn.running_mean", "buffer"), spec("mask", "buffer"), spec("ids", "buffer"))
    assert sentences(tmp_path, mindspore, torch) == []


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
    assert "mask, which reaches PyTorch alone" in sentence
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


# Starting values


@pytest.mark.parametrize(
    ("mindspore", "torch", "each_its_own"),
    [
        (spec("m", "frozen"), spec("m", "buffer", value=np.ones(2)), False),
        (spec("m", "constant"), spec("m", "buffer"), False),
        (spec("m", "constant", (2, 1)), spec("m", "buffer", (1, 2)), False),
        (spec("m", "constant"), spec("m", "buffer", value=np.full(2, 1e-6)), True),
        (spec("m", "frozen"), spec("m", "constant", value=np.full(2, 1e-6)), True),
        (spec("m", "frozen", (3,)), spec("m", "buffer", (2,)), True),
        (spec("m", "constant"), spec("m", "trained", value=np.ones(2)), False),
        (spec("m", "trained"), spec("m", "constant", value=np.ones(2)), False),
    ],
)
def test_a_plain_tensor_of_other_values_is_left_as_its_net_made_it(
    mindspore: ParameterSpec, torch: ParameterSpec, each_its_own: bool
) -> None:
    assert keep_their_own(Held(mindspore, torch)) is each_its_own


# Statistics of modules that are called differently


def names(mindspore: Description, torch: Description) -> dict[str, str]:
    """PyTorch's names of MindSpore's parameters, by path."""
    return {spec.path: spec.name for spec in with_statistics_named(mindspore, torch).parameters}


def test_statistics_are_in_the_module_that_the_weights_are_in() -> None:
    mindspore = net(
        spec("bn.weight", path="norm.gamma"),
        spec("norm.running_mean", "frozen", path="norm.moving_mean"),
        spec("other.weight", path="norm2.gamma"),
        spec("norm2.running_mean", "frozen", path="norm2.moving_mean"),
    )
    torch = net(
        spec("other.weight"),
        spec("other.running_mean", "buffer"),
        spec("bn.weight"),
        spec("bn.running_mean", "buffer"),
    )
    known = names(mindspore, torch)
    assert known["norm.moving_mean"] == "bn.running_mean"
    assert known["norm2.moving_mean"] == "other.running_mean"


def test_the_only_statistic_of_its_kind_and_shape_is_the_same() -> None:
    own = spec("norm.running_mean", "frozen", path="norm.moving_mean")
    same = spec("bn.running_mean", "buffer")
    assert names(net(own), net(same)) == {"norm.moving_mean": "bn.running_mean"}
    # With two to choose from, or another shape, nobody knows.
    for other in (
        net(same, spec("b.running_mean", "buffer")),
        net(spec("bn.running_mean", "buffer", (3,))),
    ):
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
    assert "nearest in PyTorch: enc.query.weight (3, 2), enc.key.weight (3, 2)" in message
    assert "PyTorch alone has enc.other.weight (4, 2); MindSpore has nothing left over" in message
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
        assert f"head.weight (4, 2) is trained in {side} alone" in of_head.sentence
    # A tensor of its size that is left over may be it; its own partner cannot.
    check_parameters(scenario(tmp_path), net(common), net(common, spec("tied", shape=(3, 2))))
    refusal(tmp_path, net(common, spec("table", "constant", (4, 2))), net(common, head))
    # What neither trains needs no partner.
    table, mask = spec("table", "constant", (4, 2)), spec("mask", "buffer", (4, 2))
    check_parameters(scenario(tmp_path), net(common, table), net(common, mask))


def test_nets_of_which_no_weight_corresponds_are_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, net(spec("a", shape=(3,))), net(spec("b", shape=(2,))))
    assert "MindSpore alone has a (3,); PyTorch has nothing left over of its size" in message
    check_parameters(scenario(tmp_path), net(), net(spec("b")))


def test_shapes_that_a_layout_can_mend_are_refused_with_it(tmp_path: Path) -> None:
    message = refusal(tmp_path, net(spec("fc.w", shape=(2, 3))), net(spec("fc.w", shape=(3, 2))))
    assert "fc.w has shape (2, 3) in MindSpore, (3, 2) in PyTorch" in message
    assert 'LAYOUTS = {"fc.w": {"transpose": (1, 0)}}' in message
    message = refusal(tmp_path, net(spec("a", shape=(1, 6))), net(spec("b", shape=(2, 3))))
    assert 'PARAMETER_NAMES = {"a": "b"} and LAYOUTS = {"a": {"reshape": (2, 3)}}' in message
    message = refusal(tmp_path, net(spec("fc.w", shape=(2, 3))), net(spec("fc.w", shape=(4, 2))))
    assert "LAYOUTS" not in message


def test_a_parameter_is_shown_by_both_of_its_names(tmp_path: Path) -> None:
    mindspore = net(spec("vectors", own_name="V_l2"))
    assert "vectors (2,) (its own name: V_l2)" in refusal(tmp_path, mindspore, net(spec("table")))


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
    with pytest.raises(
        ScenarioError, match="no parameter called 'vektors'; did you mean 'vectors'"
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
    with pytest.raises(ScenarioError, match="BUFFERS: no net has a buffer called 'table'"):
        check_left_out(left_out, net(known), net(known))
