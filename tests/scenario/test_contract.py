"""What a loaded scenario gives, and where an expected difference applies."""

from pathlib import Path

import pytest

from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.report import ORACLE
from explorer.scenario.contract import ExpectedDifference
from explorer.scenario.find import find
from explorer.scenario.load import load
from tests.support.nets import NETS
from tests.support.scenario_files import MINIMAL, written


def test_parameter_names_of_mindspore_become_those_of_pytorch(tmp_path: Path) -> None:
    own_names = "PARAMETER_NAMES = {'cell.kernel': 'conv.weight'}\n"
    scenario = load(written(tmp_path, MINIMAL + own_names))
    torch_names = {
        "bn.gamma": "bn.weight",
        "bn.beta": "bn.bias",
        "bn.moving_mean": "bn.running_mean",
        "bn.moving_variance": "bn.running_var",
        "table.embedding_table": "table.weight",
        "fc.weight": "fc.weight",
        "w": "w",
        "gamma": "weight",
        "cell.kernel": "conv.weight",
    }
    assert {name: scenario.torch_name(name) for name in torch_names} == torch_names


@pytest.mark.parametrize(
    ("count", "expected"), [(2, ("loss", "logits")), (1, ("out",)), (3, ("out0", "out1", "out2"))]
)
def test_outputs_go_by_the_scenario_s_names_where_their_number_fits(
    count: int, expected: tuple[str, ...]
) -> None:
    assert load(find("dense_mse")).outputs(count) == expected


def test_without_a_docstring_the_file_s_name_is_the_title(tmp_path: Path) -> None:
    scenario = load(written(tmp_path, MINIMAL))
    assert scenario.title == "given"
    assert scenario.notes == ""
    assert scenario.train is False
    assert scenario.parameters() is None


def test_a_scenario_may_define_one_framework_alone() -> None:
    scenario = load(NETS / "one_framework.py")
    assert scenario.defines("torch")
    assert not scenario.defines("mindspore")
    assert scenario.mindspore_net is None


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
