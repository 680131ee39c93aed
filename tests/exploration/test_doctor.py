"""What the doctor makes of what it finds, with nothing really missing, and the remedy for what is missing."""

import importlib.metadata
import re
from typing import Any

import pytest

from explorer.exploration.installed import PACKAGES, examine
from explorer.model.doctor import Check
from explorer.model.engines import NEEDED
from explorer.model.failures import Loss
from explorer.model.results import About
from explorer.shipped import requirements_file
from explorer.text import remedies
from explorer.text.language import said_in
from explorer.text.remedies import pins, remedy
from explorer.words.doctor import check
from explorer.workers.protocol import Lost
from explorer.workers.queue import no_progress
from explorer.workers.workers import Workers


class OneWorkerDies(Workers):
    """MindSpore tells of itself, and PyTorch's worker crashes."""

    def call(self, kind: Any, target: str, argument: Any, reply: Any) -> Any:
        """As Workers.call."""
        if kind == "torch":
            return Lost("crashed", Loss(kind="died", code=-6))
        return About({"mindspore": "2.10.0"}, ("cpu", "npu:0"))


def checked(layout: str = "") -> dict[str, Check]:
    """The checks by name, where something may stand in for Graphviz."""
    facts = examine(OneWorkerDies(), lambda: layout, no_progress)
    return {each.name: each for each in map(check, facts)}


def test_a_framework_is_fine_where_its_worker_tells_of_itself_and_required() -> None:
    checks = checked()
    assert checks["mindspore"].fine
    assert checks["mindspore"].found == "2.10.0 (tried) on cpu, npu:0"
    assert not checks["torch"].fine
    assert "signal 6" in checks["torch"].found
    assert "torch==" in checks["torch"].remedy
    assert checks["torch"].required
    assert checks["layout"].fine


def test_what_stands_in_for_graphviz_is_not_fine() -> None:
    layout = checked("Simple layout: no Graphviz.")["layout"]
    assert (layout.fine, layout.found) == (False, "Simple layout: no Graphviz.")
    assert "pygraphviz==" in layout.remedy


def test_packages_that_are_missing_or_too_new_come_with_the_way_to_get_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def version(name: str) -> str:
        if name == "rich":
            raise importlib.metadata.PackageNotFoundError(name)
        return "2.1.0"

    monkeypatch.setattr(importlib.metadata, "version", version)
    checks = checked()
    assert (checks["rich"].fine, checks["rich"].found) == (False, "not installed")
    assert not checks["numpy"].fine  # MindSpore 2.10.0 needs numpy 1
    assert "numpy==1" in checks["numpy"].remedy
    assert checks["msgspec"].fine


def test_checks_are_worded_in_the_reader_s_language() -> None:
    with said_in("zh"):
        checks = checked()
    assert checks["mindspore"].found == "2.10.0（已试用）（设备：cpu, npu:0）"
    assert checks["layout"].found == "Graphviz 可用"


def test_every_requirement_is_read_with_its_pin_for_each_python() -> None:
    file = requirements_file()
    assert file
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    names = {re.split("=", line)[0] for line in lines}
    assert set(pins((3, 10))) == names
    # What Python itself has from 3.11 on.
    assert set(pins((3, 11))) == set(pins((3, 12))) == names - {"tomli"}
    assert {*PACKAGES, *NEEDED} <= names


def test_a_remedy_pins_the_version_for_this_python() -> None:
    assert remedy("mindspore") == 'python -m pip install "mindspore==2.10.0"'
    assert pins((3, 10))["streamlit"] != pins((3, 11))["streamlit"]


def test_once_installed_the_remedy_is_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remedies, "requirements_file", lambda: None)
    assert remedy("torch") == 'python -m pip install "autodiff-explorer[torch]"'
    assert remedy("vl_convert") == 'python -m pip install "autodiff-explorer[pictures]"'
    assert remedy("rich") == 'python -m pip install "rich"'
