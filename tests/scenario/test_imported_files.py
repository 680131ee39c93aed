"""A scenario in a process that lives on: what it imports from its folder is read as it is now."""

import inspect
import os
import sys
from pathlib import Path

import pytest

from explorer.scenario.load import load, module_of
from tests.support.scenario_files import MINIMAL, written

TRAINED, NOT_TRAINED = "TRAIN = True \n", "TRAIN = False\n"
"""What a helper holds, earlier and later: texts of one length, by which Python's cache goes too."""


@pytest.fixture(autouse=True)
def code_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python keeps the code of what it imports, as it does where nothing is said against it."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def importing(folder: Path, helper: str) -> Path:
    """A scenario that takes its title's number from a helper beside it."""
    text = f"import sys\nsys.path.append({str(folder)!r})\nimport {helper}\n{MINIMAL}"
    return written(folder, f"{text}TRAIN = {helper}.TRAIN\n", f"with_{helper}.py")


def rewritten(file: Path, text: str) -> None:
    """Write a file again, in the same second as before as far as anybody can tell."""
    before = file.stat()
    assert len(text) == before.st_size
    file.write_text(text, encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_scenario_that_has_changed_is_read_anew(tmp_path: Path) -> None:
    scenario = written(tmp_path, MINIMAL + TRAINED)
    assert load(scenario).train
    rewritten(scenario, MINIMAL + NOT_TRAINED)
    assert not load(scenario).train


def test_the_lines_of_a_helper_that_has_changed_are_read_anew(tmp_path: Path) -> None:
    text = "TRAIN = True\ndef scaled(x):\n    return {} * x\n"
    helper = written(tmp_path, text.format(2), "helper_with_lines.py")
    scenario = importing(tmp_path, helper.stem)
    for factor in (2, 3):
        rewritten(helper, text.format(factor))
        load(scenario)
        assert f"return {factor} * x" in inspect.getsource(sys.modules[helper.stem].scaled)


def test_a_helper_of_a_helper_that_has_changed_is_imported_anew(tmp_path: Path) -> None:
    inner = written(tmp_path, TRAINED, "inner_that_changes.py")
    outer = written(tmp_path, f"from {inner.stem} import TRAIN\n", "outer_that_stays.py")
    scenario = importing(tmp_path, outer.stem)
    assert load(scenario).train
    rewritten(inner, NOT_TRAINED)
    assert not load(scenario).train


def test_a_helper_that_has_not_changed_stays_the_module_that_it_is(tmp_path: Path) -> None:
    helper = written(tmp_path, TRAINED, "helper_that_stays.py")
    scenario = importing(tmp_path, helper.stem)
    load(scenario)
    first = sys.modules[helper.stem]
    load(scenario)
    assert sys.modules[helper.stem] is first


def test_each_load_has_code_of_its_own(tmp_path: Path) -> None:
    scenario = written(tmp_path, MINIMAL)
    codes = [module_of(load(scenario)).inputs.__code__ for _ in range(2)]
    assert codes[0] is not codes[1]


def test_the_lines_of_a_scenario_are_those_that_run_whatever_the_file_holds_since(
    tmp_path: Path,
) -> None:
    text = "NAME = '\u2028'\n" + MINIMAL.removesuffix("\n")  # no end of a line, and none at the end
    scenario = written(tmp_path, text)
    inputs = module_of(load(scenario)).inputs
    lines = inspect.getsourcelines(inputs)
    written(tmp_path, "\n" + text.replace("np.ones", "np.zeros"))
    assert inspect.getsourcelines(inputs) == lines
    assert (
        inspect.getsource(inputs).splitlines()[-1].strip() == "return {'x': np.ones(2, np.float32)}"
    )
    assert "np.zeros" in inspect.getsource(module_of(load(scenario)).inputs)
    assert inspect.getsource(module_of(load(scenario)).torch_net).endswith("return None\n")
