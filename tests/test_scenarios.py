"""Scenario files: what the loader gives, what it refuses and with which words, and what every
shipped file must hold.
"""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES, FRAMEWORKS
from explorer.model.errors import ScenarioError
from explorer.model.report import ORACLE
from explorer.scenario.contract import FOLDER, ExpectedDifference, Scenario, find, load, names
from explorer.scenario.matrix import matrix

NETS = Path(__file__).parent / "nets"
SHIPPED = sorted(names().values())
PLANTED = sorted((NETS / "planted").glob("*.py"))
PARTIES = {
    ORACLE,
    *ENGINES,
    *(e.style for e in ENGINES.values()),
    *(e.framework for e in ENGINES.values()),
}
MISTAKES = {
    "batch_norm_epsilon",
    "batch_norm_momentum",
    "detached_branch",
    "dropout_left_on",
    "gelu_approximation",
    "in_place_change",
    "mean_for_sum",
    "missing_bias",
    "padding_side",
    "softmax_axis",
    "swapped_arguments",
    "transposed_weight",
}
MINIMAL = "import numpy as np\ndef inputs():\n    return {'x': np.ones(2, np.float32)}\ndef torch_net():\n    return None\n"


def lines_of(path: Path, function: str) -> list[str]:
    """The stripped source lines of one function of a file."""
    text = path.read_text(encoding="utf-8")
    node = next(
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == function
    )
    return [line.strip() for line in text.splitlines()[node.lineno - 1 : node.end_lineno]]


def written(folder: Path, text: str, name: str = "given.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    """The words with which a file is refused."""
    with pytest.raises(ScenarioError) as caught:
        load(path)
    return str(caught.value)


@pytest.mark.parametrize("path", [*SHIPPED, *PLANTED], ids=lambda path: path.stem)
def test_a_file_has_a_title_notes_and_both_nets(path: Path) -> None:
    scenario = load(path)
    assert scenario.title
    assert len(scenario.title) < 80
    assert len(scenario.notes) > 80
    assert all(scenario.defines(framework) for framework in FRAMEWORKS)


@pytest.mark.parametrize("path", [*SHIPPED, *PLANTED], ids=lambda path: path.stem)
def test_inputs_and_parameters_are_the_same_at_every_call(path: Path) -> None:
    scenario = load(path)
    for make in (scenario.inputs, lambda: scenario.parameters() or {}):
        first, second = make(), make()
        assert list(first) == list(second)
        for name, array in first.items():
            assert array is not second[name]
            np.testing.assert_array_equal(array, second[name], strict=True)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_expected_difference_names_known_parties_and_describes_some_case(path: Path) -> None:
    scenario = load(path)
    cases = matrix(len(scenario.inputs()), scenario.parameters() is not None, order=4)
    for expected in scenario.expected:
        assert expected.reason
        assert set(expected.engines) <= PARTIES
        assert any(expected.applies(case) for case in cases)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_notes_are_set_in_lines_that_read_well(path: Path) -> None:
    assert max(map(len, load(path).notes.splitlines())) <= 120


def test_there_is_one_planted_pair_for_each_mistake() -> None:
    assert {path.stem for path in PLANTED} == MISTAKES


@pytest.mark.parametrize("path", PLANTED, ids=lambda path: path.stem)
def test_a_planted_fault_is_one_line_of_each_net(path: Path) -> None:
    fault = load(path).module.FAULT
    assert set(fault) == {"mindspore_line", "torch_line"}
    for framework in FRAMEWORKS:
        assert lines_of(path, f"{framework}_net").count(fault[f"{framework}_line"]) == 1


def test_loading_every_scenario_imports_no_framework() -> None:
    code = (
        "import sys; from explorer.scenario import load, names\n"
        "for path in names().values(): load(path).inputs()\n"
        "print(sorted({'mindspore', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=FOLDER.parent, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_one_array_under_two_names_stays_one_array() -> None:
    inputs = load(find("aliased_input")).inputs()
    assert inputs["a"] is inputs["b"]


def test_a_module_is_registered_under_its_own_name_where_a_compiler_looks_for_it() -> None:
    for path in (find("dense_mse"), NETS / "one_framework.py"):
        module = load(path).module
        assert sys.modules[module.__name__] is module


def test_parameter_names_of_mindspore_become_those_of_pytorch(tmp_path: Path) -> None:
    scenario = load(
        written(tmp_path, MINIMAL + "PARAMETER_NAMES = {'cell.kernel': 'conv.weight'}\n")
    )
    own = [
        "bn.gamma",
        "bn.beta",
        "bn.moving_mean",
        "bn.moving_variance",
        "table.embedding_table",
        "fc.weight",
        "w",
        "gamma",
    ]
    assert [scenario.torch_name(name) for name in [*own, "cell.kernel"]] == [
        "bn.weight",
        "bn.bias",
        "bn.running_mean",
        "bn.running_var",
        "table.weight",
        "fc.weight",
        "w",
        "weight",
        "conv.weight",
    ]


@pytest.mark.parametrize(
    ("count", "expected"), [(2, ("loss", "logits")), (1, ("out",)), (3, ("out0", "out1", "out2"))]
)
def test_outputs_go_by_the_scenario_s_names_where_their_number_fits(
    count: int, expected: tuple[str, ...]
) -> None:
    assert load(find("dense_mse")).outputs(count) == expected


def test_without_a_docstring_the_file_s_name_is_the_title(tmp_path: Path) -> None:
    scenario = load(written(tmp_path, MINIMAL))
    assert (scenario.title, scenario.notes, scenario.train, scenario.parameters()) == (
        "given",
        "",
        False,
        None,
    )


def test_a_scenario_may_define_one_framework_alone() -> None:
    scenario: Scenario = load(NETS / "one_framework.py")
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


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("no_inputs.py", ("does not define inputs()", "it defines mindspore_net(), torch_net()")),
        ("no_nets.py", ("does not define mindspore_net() or torch_net()", "it defines inputs()")),
        ("complex_input.py", ("input 'x' has dtype complex64", "allowed are", "float32")),
        (
            "imports_torch.py",
            (
                "imports_torch.py:4: imports torch at module level",
                "inside mindspore_net() or torch_net()",
            ),
        ),
        ("syntax_error.txt", ("syntax_error.txt:5: the scenario has a syntax error",)),
    ],
)
def test_a_broken_file_is_refused_with_its_place_and_what_is_wrong(
    file: str, words: tuple[str, ...]
) -> None:
    message = refusal(NETS / file)
    assert str(NETS / file) in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it defines none of the names"),
        ("x = 1\ny = x / 0\n", "given.py:2: the scenario cannot be imported: ZeroDivisionError"),
        (
            "import numpy as np\nfrom mindspore.nn import Cell\n",
            "given.py:2: imports mindspore.nn at module level",
        ),
        (
            "def inputs():\n    return [1]\ndef torch_net(): ...\n",
            "inputs() gives a list; it must return a dict",
        ),
        ("def inputs():\n    return {}\ndef torch_net(): ...\n", "inputs() gives no input"),
        (
            "def inputs():\n    return {'x': 1.0}\ndef torch_net(): ...\n",
            "inputs()['x'] is a float; give only numpy arrays",
        ),
        (
            "def inputs():\n    return {}['x']\ndef torch_net(): ...\n",
            "given.py:2: inputs() raised KeyError",
        ),
        (
            MINIMAL + "def parameters():\n    return 3\n",
            "parameters() gives a int; it must return a dict",
        ),
        (MINIMAL + "def parameters():\n    return {'w': [1.0]}\n", "parameters()['w'] is a list"),
        (
            MINIMAL + "EXPECTED_DIFFERENCES = [{'engine': 'tape'}]\n",
            "EXPECTED_DIFFERENCES holds an entry that is not",
        ),
        (
            MINIMAL + "EXPECTED_DIFFERENCES = [{'engines': ('tapes',), 'reason': 'r'}]\n",
            "names 'tapes' under engines; allowed are",
        ),
        (
            MINIMAL + "EXPECTED_DIFFERENCES = [{'engines': 'tape', 'reason': 'r'}]\n",
            "gives engines as 'tape'; write ('tape',)",
        ),
        (
            MINIMAL
            + "EXPECTED_DIFFERENCES = [{'engines': ('tape',), 'reason': 'r', 'when': {'positon': 0}}]\n",
            "names 'positon' under when; allowed are position, api",
        ),
        (MINIMAL + "inputs = 3\n", "does not define inputs()"),
    ],
)
def test_a_wrong_scenario_is_refused_in_words_that_help(
    text: str, words: str, tmp_path: Path
) -> None:
    assert words in refusal(written(tmp_path, text))


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "given.py"
    path.write_bytes(b"\xff\xfe\x00")
    assert "cannot be read" in refusal(path)


def test_a_module_that_fails_at_import_is_not_left_behind(tmp_path: Path) -> None:
    refusal(written(tmp_path, "raise ValueError('no')\n", "left_behind.py"))
    assert not [name for name in sys.modules if name.endswith("left_behind")]


def test_names_are_sorted_and_of_two_with_one_name_the_first_folder_s_counts(
    tmp_path: Path,
) -> None:
    for name in ("dense_mse.py", "aaa.py", "_hidden.py"):
        written(tmp_path, MINIMAL, name)
    known = names((FOLDER, tmp_path))
    assert list(known) == sorted(known)
    assert known["dense_mse"].parent == FOLDER
    assert known["aaa"].parent == tmp_path
    assert "_hidden" not in known


def test_a_scenario_is_found_by_name_or_by_file() -> None:
    assert find("dense_mse") == FOLDER / "dense_mse.py"
    assert find(str(NETS / "one_framework.py")) == NETS / "one_framework.py"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("dense_msee", "did you mean 'dense_mse'?"),
        ("zzzzzz", "aliased_input"),
        ("nowhere.py", "scenario file 'nowhere.py' does not exist"),
        ("../scenarios/dense_mse", "'../scenarios/dense_mse'"),
        ("tests", "'tests'"),
    ],
)
def test_what_is_not_a_scenario_is_refused_with_what_there_is(given: str, words: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        find(given)
    assert words in str(caught.value)
