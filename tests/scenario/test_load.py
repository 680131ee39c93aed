"""Loading a scenario file: what is refused and with which words, and that no framework is touched."""

import subprocess
import sys
from pathlib import Path

import pytest

from explorer.model.errors import ScenarioError
from explorer.scenario.find import FOLDER, find
from explorer.scenario.load import load
from tests.support.nets import NETS
from tests.support.scenario_files import MINIMAL, written

ONLY_TORCH_NET = "def torch_net(): ...\n"


def refusal(path: Path) -> str:
    """The words with which a file is refused."""
    with pytest.raises(ScenarioError) as caught:
        load(path)
    return str(caught.value)


def test_loading_every_scenario_imports_no_framework() -> None:
    code = (
        "import sys\n"
        "from explorer.scenario.find import names\n"
        "from explorer.scenario.load import load\n"
        "for path in names().values(): load(path).inputs()\n"
        "print(sorted({'mindspore', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=FOLDER.parent, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_module_is_registered_under_its_own_name_where_a_compiler_looks_for_it() -> None:
    for path in (find("dense_mse"), NETS / "one_framework.py"):
        module = load(path).module
        assert sys.modules[module.__name__] is module


def test_a_module_that_fails_at_import_is_not_left_behind(tmp_path: Path) -> None:
    refusal(written(tmp_path, "raise ValueError('no')\n", "left_behind.py"))
    assert not [name for name in sys.modules if name.endswith("left_behind")]


@pytest.mark.parametrize(
    ("file", "fragments"),
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
    file: str, fragments: tuple[str, ...]
) -> None:
    message = refusal(NETS / file)
    assert str(NETS / file) in message
    for fragment in fragments:
        assert fragment in message


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "it defines none of the names"),
        ("x = 1\ny = x / 0\n", "given.py:2: the scenario cannot be imported: ZeroDivisionError"),
        (
            "import numpy as np\nfrom mindspore.nn import Cell\n",
            "given.py:2: imports mindspore.nn at module level",
        ),
        (
            "def inputs():\n    return [1]\n" + ONLY_TORCH_NET,
            "inputs() gives a list; it must return a dict",
        ),
        ("def inputs():\n    return {}\n" + ONLY_TORCH_NET, "inputs() gives no input"),
        (
            "def inputs():\n    return {'x': 1.0}\n" + ONLY_TORCH_NET,
            "inputs()['x'] is a float; give only numpy arrays",
        ),
        (
            "def inputs():\n    return {}['x']\n" + ONLY_TORCH_NET,
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
            MINIMAL + "EXPECTED_DIFFERENCES = "
            "[{'engines': ('tape',), 'reason': 'r', 'when': {'positon': 0}}]\n",
            "names 'positon' under when; allowed are position, api",
        ),
        (MINIMAL + "CONSTANTS = ('y',)\n", "CONSTANTS: no input is called 'y'; allowed: x"),
        (MINIMAL + "CONSTANTS = 'x'\n", "CONSTANTS is 'x'; write ('x',)"),
        (MINIMAL + "CONSTANTS = 3\n", "CONSTANTS is 3; give a tuple of names"),
        (MINIMAL + "OUTPUTS = 'loss'\n", "OUTPUTS is 'loss'; write ('loss',)"),
        (MINIMAL + "PARAMETER_NAMES = ['a']\n", "PARAMETER_NAMES is ['a']; write {"),
        (MINIMAL + "TOLERANCES = [{'rtol': 1e-3}]\n", "TOLERANCES holds an entry that is not"),
        (MINIMAL + "TOLERANCES = [{'reason': 'r'}]\n", "gives neither rtol nor atol"),
        (MINIMAL + "TOLERANCES = [{'rtol': 1e-3, 'reason': ''}]\n", "gives no reason"),
        (MINIMAL + "TOLERANCES = [{'rtol': -1, 'reason': 'r'}]\n", "gives rtol as -1; give a"),
        (
            MINIMAL + "TOLERANCES = [{'atol': float('nan'), 'reason': 'r'}]\n",
            "gives atol as nan; give a number",
        ),
        (
            MINIMAL + "TOLERANCES = [{'rtol': 1, 'reason': 'r', 'leaves': 'dx'}]\n",
            "gives leaves as 'dx'; write ('dx',)",
        ),
        (
            MINIMAL + "TOLERANCES = [{'rtol': 1, 'reason': 'r', 'when': {'x': 1}}]\n",
            "TOLERANCES names 'x' under when",
        ),
        (MINIMAL + "TRAIN = 'no'\n", "TRAIN is 'no'; give True or False"),
        (MINIMAL + "BUFFERS = ['w']\n", "BUFFERS is ['w']; write {"),
        (MINIMAL + "BUFFERS = {'w': 3}\n", "BUFFERS['w'] is 3; write {"),
        (MINIMAL + "LAYOUTS = ['w']\n", "LAYOUTS is ['w']; write {"),
        (MINIMAL + "LAYOUTS = {'w': 3}\n", "LAYOUTS: 3 is no layout; write what makes"),
        (
            MINIMAL + "EXPECTED_FINDINGS = [{'name': 'w'}]\n",
            "EXPECTED_FINDINGS holds an entry that is not",
        ),
        (
            MINIMAL + "EXPECTED_FINDINGS = [{'names': 'w', 'reason': 'r'}]\n",
            "EXPECTED_FINDINGS gives names as 'w'",
        ),
        (MINIMAL + "CASES = 'grad(0)'\n", "CASES is 'grad(0)'; give a list"),
        (MINIMAL + "CASES = []\n", "CASES is []; give a list of at least one case"),
        (MINIMAL + "CASES = ['grad(1)']\n", "CASES: no case is called 'grad(1)'; did you mean"),
        (
            MINIMAL + "CONSTANTS = ('x',)\nCASES = ['grad(0)']\n",
            "CASES: no case is called 'grad(0)'",
        ),
        (MINIMAL + "CASES = [{'apis': 'grad'}]\n", "CASES names 'apis' under a case; allowed"),
        (MINIMAL + "inputs = 3\n", "does not define inputs()"),
    ],
)
def test_a_wrong_scenario_is_refused_in_words_that_help(
    text: str, fragment: str, tmp_path: Path
) -> None:
    message = refusal(written(tmp_path, text))
    assert fragment in message
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
    assert f"; {name} lies in the scenario's folder" in message
    line = message.split("`")[1]
    assert load(written(tmp_path, f"{line}\n{text}")).inputs()


def test_of_a_module_that_is_nowhere_only_that_is_said(tmp_path: Path) -> None:
    message = refusal(written(tmp_path, f"import helper_of_nobody\n{MINIMAL}"))
    assert message.endswith("No module named 'helper_of_nobody'")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "given.py"
    path.write_bytes(b"\xff\xfe\x00")
    assert "cannot be read" in refusal(path)
