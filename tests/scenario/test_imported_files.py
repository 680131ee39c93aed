"""A scenario in a process that lives on: what it imports from its folder is read as it is now."""

import os
import sys
from pathlib import Path

from explorer.scenario.load import load
from tests.support.scenario_files import MINIMAL, written

LATER = 10
"""Seconds by which a file that is written again is younger, as Python's own cache wants it."""


def importing(folder: Path, helper: str) -> Path:
    """A scenario that takes its title's number from a helper beside it."""
    text = f"import sys\nsys.path.append({str(folder)!r})\nimport {helper}\n{MINIMAL}"
    return written(folder, f"{text}TRAIN = {helper}.TRAIN\n", f"with_{helper}.py")


def rewritten(file: Path, text: str) -> None:
    before = file.stat().st_mtime
    file.write_text(text, encoding="utf-8")
    os.utime(file, (before + LATER, before + LATER))


def test_a_helper_that_has_changed_is_imported_anew(tmp_path: Path) -> None:
    helper = written(tmp_path, "TRAIN = True\n", "helper_that_changes.py")
    scenario = importing(tmp_path, helper.stem)
    assert load(scenario).train
    rewritten(helper, "TRAIN = False\n")
    assert not load(scenario).train


def test_a_helper_of_a_helper_that_has_changed_is_imported_anew(tmp_path: Path) -> None:
    inner = written(tmp_path, "TRAIN = True\n", "inner_that_changes.py")
    outer = written(tmp_path, f"from {inner.stem} import TRAIN\n", "outer_that_stays.py")
    scenario = importing(tmp_path, outer.stem)
    assert load(scenario).train
    rewritten(inner, "TRAIN = False\n")
    assert not load(scenario).train


def test_a_helper_that_has_not_changed_stays_the_module_that_it_is(tmp_path: Path) -> None:
    helper = written(tmp_path, "TRAIN = True\n", "helper_that_stays.py")
    scenario = importing(tmp_path, helper.stem)
    load(scenario)
    first = sys.modules[helper.stem]
    load(scenario)
    assert sys.modules[helper.stem] is first
