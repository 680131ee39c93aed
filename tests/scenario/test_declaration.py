"""What a loaded scenario gives, and where an expected difference applies."""

from pathlib import Path

import numpy as np
import pytest

from explorer.model.cases import GradCase
from explorer.model.errors import ScenarioError
from explorer.model.findings import LoneIntegers, ReportFinding
from explorer.model.report import ORACLE
from explorer.scenario.declaration import (
    Condition,
    ExpectedDifference,
    ExpectedFinding,
    Factory,
    Tolerance,
    decoded,
    encoded,
)
from explorer.scenario.find import find
from explorer.scenario.load import load, make_net, module_of
from tests.support.scenario_files import MINDSPORE_NET, MINIMAL, written
from tests.support.standard_engines import ENGINES


@pytest.mark.parametrize(
    ("count", "expected"), [(2, ("loss", "logits")), (1, ("out",)), (3, ("out0", "out1", "out2"))]
)
def test_outputs_go_by_the_scenario_s_names_where_their_number_fits(
    count: int, expected: tuple[str, ...]
) -> None:
    assert load(find("dense_mse")).outputs(count) == expected


def test_of_a_file_with_one_net_and_no_docstring_the_name_is_the_title(tmp_path: Path) -> None:
    scenario = load(written(tmp_path, MINIMAL))
    assert scenario.title == "given"
    assert scenario.notes == ""
    assert scenario.train is False
    assert scenario.parameters() is None
    assert scenario.defines("torch")
    assert not scenario.defines("mindspore")
    assert list(scenario.nets) == ["torch"]


@pytest.mark.parametrize(
    ("case", "applies"),
    [
        (GradCase("grad", 1), True),
        (GradCase("grad", (0, 1)), True),
        (GradCase("grad", 0), False),
        (GradCase("grad", None, "all"), False),
        (GradCase("grad", 1, has_aux=True), False),
    ],
)
def test_an_expected_difference_applies_where_all_it_says_of_a_case_holds(
    case: GradCase, applies: bool
) -> None:
    expected = ExpectedDifference(("torch",), "because", {"position": 1, "has_aux": False})
    assert expected.applies(case) is applies


@pytest.mark.parametrize(
    ("engines", "covered"),
    [
        (("tape",), {"mindspore-tape", "torch-tape"}),
        (("torch",), {"torch-tape", "torch-graph"}),
        (("mindspore-graph", ORACLE), {"mindspore-graph", ORACLE}),
    ],
)
def test_parties_are_engines_styles_frameworks_or_the_oracle(
    engines: tuple[str, ...], covered: set[str]
) -> None:
    expected = ExpectedDifference(engines, "because")
    assert {party for party in (*ENGINES, ORACLE) if expected.covers(party)} == covered


def test_an_expected_finding_is_about_its_own_parameters_alone() -> None:
    expected = ExpectedFinding(("a", "b"), "because")
    for names, applies in {("a",): True, ("a", "b"): True, ("a", "c"): False, (): False}.items():
        finding = ReportFinding(fact=LoneIntegers("", "int32"), names=names)
        assert expected.applies(finding) is applies


@pytest.mark.parametrize(
    ("leaves", "when", "applies"),
    [
        ((), {}, True),
        (("dx",), {}, True),
        (("dw",), {}, False),
        (("dw", "dx"), {"api": "grad"}, True),
        ((), {"api": "value_and_grad"}, False),
        (("dx",), {"position": 0, "has_aux": True}, False),
        (("dw",), {"position": 0}, False),
    ],
)
def test_a_tolerance_is_for_its_leaves_where_all_it_says_of_a_case_holds(
    leaves: tuple[str, ...], when: dict[str, Condition], applies: bool
) -> None:
    tolerance = Tolerance("because", rtol=1e-3, leaves=leaves, when=when)
    assert tolerance.applies(GradCase("grad", (0, 1)), "dx") is applies


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ("", False),
        (MINDSPORE_NET, True),
        (MINDSPORE_NET + "SAME_DROPOUT = False\n", False),
        ("SAME_DROPOUT = True\n", True),
    ],
)
def test_two_nets_share_their_dropout_unless_told_otherwise(
    text: str, shared: bool, tmp_path: Path
) -> None:
    assert load(written(tmp_path, MINIMAL + text)).shares_dropout is shared


def test_nets_are_made_by_the_file_s_own_functions(tmp_path: Path) -> None:
    scenario = load(written(tmp_path, MINIMAL + MINDSPORE_NET))
    assert scenario.nets == {
        "mindspore": Factory("explorer_scenario_given", "mindspore_net"),
        "torch": Factory("explorer_scenario_given", "torch_net"),
    }
    module = module_of(scenario)
    module.torch_net = lambda: "the net"  # type: ignore[attr-defined]
    assert make_net(scenario, "torch") == "the net"


def test_inputs_are_fresh_each_time_and_one_array_under_two_names_is_one(tmp_path: Path) -> None:
    text = (
        "ONE = np.ones(2, np.float32)\n"
        "def inputs():\n    return {'a': ONE, 'b': np.zeros(1), 'c': ONE}\n"
        "def parameters():\n    return {'w': ONE}\n"
    )
    scenario = load(written(tmp_path, MINIMAL + text))
    inputs, parameters = scenario.inputs(), scenario.parameters()
    assert inputs["a"] is inputs["c"]
    assert inputs["a"] is not inputs["b"]
    inputs["a"] += 1
    assert parameters is not None
    parameters["w"] += 2
    # A net that writes into what it is given spoils nothing for the next.
    for fresh in (scenario.inputs()["a"], (scenario.parameters() or {})["w"]):
        np.testing.assert_array_equal(fresh, np.ones(2))


EVERYTHING = """
TRAIN = True
OUTPUTS = ("loss",)
PARAMETER_NAMES = {"a": "b"}
BUFFERS = {"c": "d", "e": None}
LAYOUTS = {"a": {"transpose": (1, 0), "squeeze": 2}}
SAME_DROPOUT = True
CASES = ["grad(0)", {"grad_position": (0,), "weights": None}]
TOLERANCES = [{"rtol": 1e-3, "reason": "r", "leaves": ["dx"], "when": {"has_aux": True}}]
EXPECTED_DIFFERENCES = [{"engines": ["tape"], "reason": "r", "when": {"grad_position": (0,)}}]
EXPECTED_FINDINGS = [{"names": ["w"], "reason": "r"}]

def parameters():
    return {"w": np.zeros((0, 2), np.float16)}
"""


def test_a_declaration_is_the_same_after_it_was_sent_wherever_its_file_lies(tmp_path: Path) -> None:
    scenario = load(written(tmp_path, MINIMAL + MINDSPORE_NET + EVERYTHING))
    content = encoded(scenario)
    again = decoded(content, scenario.path)
    assert encoded(again) == content
    assert again.expected[0].when == {"grad_position": (0,)}
    assert again.cases == scenario.cases
    assert again.layouts == scenario.layouts
    assert again.start == scenario.start
    assert again.file == scenario.file
    assert again.inputs().keys() == scenario.inputs().keys()
    assert str(tmp_path).encode() not in content


def test_a_value_of_a_type_that_a_name_cannot_have_is_refused(tmp_path: Path) -> None:
    text = MINIMAL + "EXPECTED_FINDINGS = [{'names': (1,), 'reason': 'r'}]\n"
    scenario = load(written(tmp_path, text))
    with pytest.raises(
        ScenarioError, match=r"given\.py: a name in the scenario file has a value of"
    ):
        decoded(encoded(scenario), scenario.path)
