"""Loading a scenario file: what is refused and with which words, and that no framework is touched."""

import re
import sys
from pathlib import Path

import pytest

from explorer.model.errors import ScenarioError
from explorer.scenario.find import FOLDER, find
from explorer.scenario.load import load
from explorer.text.language import said_in
from tests.support.command_line import python
from tests.support.nets import NETS
from tests.support.scenario_files import MINIMAL, written

INPUTS = "def inputs():\n    return {}\ndef torch_net(): ...\n"
"""A file whose inputs are filled in."""


def refusal(path: Path) -> str:
    """The words with which a file is refused."""
    with pytest.raises(ScenarioError) as caught:
        load(path)
    return str(caught.value)


@pytest.mark.slow
def test_loading_every_scenario_imports_no_framework() -> None:
    code = (
        "import sys\n"
        "from explorer.scenario.find import names\n"
        "from explorer.scenario.load import load\n"
        "for path in names().values(): load(path).inputs()\n"
        "print(sorted({'mindspore', 'torch'} & set(sys.modules)))"
    )
    assert python("-c", code, cwd=FOLDER.parent).strip() == "[]"


def test_a_module_is_registered_under_its_own_name_where_a_compiler_looks_for_it() -> None:
    for path in (find("dense_mse"), NETS / "one_framework.py"):
        factory = load(path).nets["torch"]
        assert sys.modules[factory.module].__file__ == str(path)


def test_a_module_that_fails_at_import_is_not_left_behind(tmp_path: Path) -> None:
    refusal(written(tmp_path, "raise ValueError('no')\n", "left_behind.py"))
    assert not [name for name in sys.modules if name.endswith("left_behind")]


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "it defines none of these functions"),
        (
            "def mindspore_net(): ...\ndef torch_net(): ...\n",
            "does not define inputs(); it defines mindspore_net(), torch_net()",
        ),
        (
            "def inputs(): ...\n",
            "does not define mindspore_net() or torch_net() or jax_net(); it defines inputs()",
        ),
        (MINIMAL.replace("float32", "complex64"), "input 'x' has dtype complex64; allowed: "),
        ("\n\nx = {'x': }\n", "given.py:3: syntax error in the scenario file"),
        ("x = 1\ny = x / 0\n", "given.py:2: the scenario file raises when it is imported: ZeroDiv"),
        (
            "import numpy as np\nfrom mindspore.nn import Cell\n",
            "given.py:2: the scenario file imports mindspore.nn at module level",
        ),
        ("import torch\n", "move the import into torch_net()"),
        (MINIMAL + "inputs = 3\n", "does not define inputs()"),
        (INPUTS.format("[1]"), "inputs() must return a dict of numpy arrays by name, got a list"),
        (INPUTS.format("{}"), "inputs() returned nothing; return a dict"),
        (INPUTS.format("{'x': 1.0}"), "inputs()['x'] is a float; return only numpy arrays"),
        (INPUTS.format("{}['x']"), "given.py:2: inputs() raised KeyError"),
        (
            MINIMAL + "def parameters():\n    return 3\n",
            "parameters() must return a dict of numpy arrays by name, got a int",
        ),
        (MINIMAL + "def parameters():\n    return {'w': [1.0]}\n", "parameters()['w'] is a list"),
    ],
)
def test_a_wrong_scenario_is_refused_in_words_that_help(
    text: str, fragment: str, tmp_path: Path
) -> None:
    message = refusal(written(tmp_path, text))
    assert fragment in message
    assert message.startswith(str(tmp_path / "given.py"))


DECLARED = """
    EXPECTED_DIFFERENCES = [{'engine': 'tape'}]
        => an entry of EXPECTED_DIFFERENCES must have the form {'engines': (…), 'reason': '…', 'when': {…}}
    EXPECTED_DIFFERENCES = [{'engine': 'tape'}] => }; got an unexpected keyword argument 'engine'
    EXPECTED_DIFFERENCES = [{'engines': ('tapes',), 'reason': 'r'}]
        => unknown name 'tapes' in 'engines' of EXPECTED_DIFFERENCES; allowed:
    EXPECTED_DIFFERENCES = [{'engines': 'tape', 'reason': 'r'}]
        => 'engines' in EXPECTED_DIFFERENCES must be a tuple, got 'tape'; write ('tape',)
    EXPECTED_DIFFERENCES = [{'engines': ('tape',), 'reason': 'r', 'when': {'postion': 0}}]
        => unknown name 'postion' in 'when' of EXPECTED_DIFFERENCES; allowed: position, api
    CONSTANTS = ('y',) => CONSTANTS: unknown input 'y'; allowed: x
    CONSTANTS = 'x' => CONSTANTS must be a tuple of names, got 'x'; write ('x',)
    CONSTANTS = 3 => CONSTANTS must be a tuple of names, got 3
    OUTPUTS = 'loss' => OUTPUTS must be a tuple of names, got 'loss'; write ('loss',)
    PARAMETER_NAMES = ['a'] => PARAMETER_NAMES must be a dict {"mindspore name": "torch name"}, got
    TOLERANCES = [{'rtol': 1e-3}] => an entry of TOLERANCES must have the form
    TOLERANCES = [{'reason': 'r'}] => an entry of TOLERANCES has neither rtol nor atol
    TOLERANCES = [{'rtol': 1, 'reason': ''}] => an entry of TOLERANCES has no reason
    TOLERANCES = [{'rtol': -1, 'reason': 'r'}] => 'rtol' in TOLERANCES must be a number from 0 up, got -1
    TOLERANCES = [{'atol': float('nan'), 'reason': 'r'}]
        => 'atol' in TOLERANCES must be a number from 0 up, got nan
    TOLERANCES = [{'rtol': 1, 'reason': 'r', 'leaves': 'dx'}]
        => 'leaves' in TOLERANCES must be a tuple, got 'dx'; write ('dx',)
    TOLERANCES = [{'rtol': 1, 'reason': 'r', 'when': {'x': 1}}] => unknown name 'x' in 'when' of TOLERANCES
    TRAIN = 'no' => TRAIN must be True or False, got 'no'
    BUFFERS = ['w'] => BUFFERS must be a dict, got ['w']; write {
    BUFFERS = {'w': 3} => BUFFERS['w'] is 3; write {
    LAYOUTS = ['w'] => LAYOUTS must be a dict such as {"fc.weight": {"transpose": (1, 0)}}, got
    LAYOUTS = {'w': 3} => LAYOUTS: 3 is not a layout; write the step
    EXPECTED_FINDINGS = [{'name': 'w'}] => an entry of EXPECTED_FINDINGS must have the form
    EXPECTED_FINDINGS = [{'names': 'w', 'reason': 'r'}]
        => 'names' in EXPECTED_FINDINGS must be a tuple of names, got 'w'
    CASES = 'grad(0)' => CASES must be a list of at least one case, got 'grad(0)'
    CASES = [] => CASES must be a list of at least one case, got []
    CASES = ['grad(1)'] => CASES: unknown case 'grad(1)'; did you mean
    CONSTANTS = ('x',); CASES = ['grad(0)'] => CASES: unknown case 'grad(0)'
    CASES = [{'apis': 'grad'}] => unknown name 'apis' in an entry of CASES; allowed
"""
"""Wrong declarations and words of their refusal."""


@pytest.mark.parametrize("entry", re.split(r"\n    (?=\S)", DECLARED.strip()))
def test_a_wrong_declaration_is_refused_in_words_that_help(entry: str, tmp_path: Path) -> None:
    declared, _, fragment = entry.partition("=>")
    message = refusal(written(tmp_path, f"{MINIMAL}{declared.strip()}\n"))
    assert fragment.strip() in message
    assert message.startswith(str(tmp_path / "given.py"))


@pytest.mark.parametrize(
    ("file", "name", "text"),
    [
        ("helper_beside.py", "helper_beside.py", f"import helper_beside\n{MINIMAL}"),
        (
            "parts_beside/one.py",
            "parts_beside",
            MINIMAL.replace("    return {", "    import parts_beside.one\n    return {"),
        ),
    ],
)
def test_an_import_from_the_scenario_s_own_folder_is_refused_with_the_line_that_it_lacks(
    file: str, name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "parts_beside").mkdir()
    written(tmp_path, "", file)
    message = refusal(written(tmp_path, text))
    assert f"; {name} is in the scenario's folder, which is not on Python's path" in message
    line = message.split("`")[1]
    assert load(written(tmp_path, f"{line}\n{text}")).inputs()


def test_of_a_module_that_is_nowhere_only_that_is_said(tmp_path: Path) -> None:
    message = refusal(written(tmp_path, f"import helper_of_nobody\n{MINIMAL}"))
    assert message.endswith("No module named 'helper_of_nobody'")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "given.py"
    path.write_bytes(b"\xff\xfe\x00")
    assert "cannot be read" in refusal(path)


def test_a_wrong_file_is_refused_in_the_reader_s_language(tmp_path: Path) -> None:
    path = written(tmp_path, MINIMAL + "TRAIN = 'no'\n")
    with said_in("zh"):
        assert refusal(path) == f"{path}：TRAIN 必须为 True 或 False，但得到 'no'"
