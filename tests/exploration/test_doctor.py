"""What the doctor makes of what it finds, with nothing really missing."""

import importlib.metadata
from typing import Any

import pytest

from explorer.exploration.doctor import examine
from explorer.model.failures import Loss
from explorer.model.results import About
from explorer.text.language import said_in
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


def test_a_framework_is_fine_where_its_worker_tells_of_itself_and_required() -> None:
    checks = {
        each.name: each for each in map(check, examine(OneWorkerDies(), lambda: "", no_progress))
    }
    assert checks["mindspore"].fine
    assert checks["mindspore"].found == "2.10.0 (tried) on cpu, npu:0"
    assert not checks["torch"].fine
    assert "signal 6" in checks["torch"].found
    assert "torch==" in checks["torch"].remedy
    assert checks["torch"].required
    assert checks["layout"].fine


def test_what_stands_in_for_graphviz_is_not_fine() -> None:
    facts = examine(OneWorkerDies(), lambda: "Simple layout: no Graphviz.", no_progress)
    (layout,) = (check(fact) for fact in facts if fact.name == "layout")
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
    checks = {
        each.name: each for each in map(check, examine(OneWorkerDies(), lambda: "", no_progress))
    }
    assert (checks["rich"].fine, checks["rich"].found) == (False, "not installed")
    assert not checks["numpy"].fine  # MindSpore 2.10.0 needs numpy 1
    assert "numpy==1" in checks["numpy"].remedy
    assert checks["msgspec"].fine


def test_checks_are_worded_in_the_reader_s_language() -> None:
    facts = examine(OneWorkerDies(), lambda: "", no_progress)
    with said_in("zh"):
        found = {each.name: each.found for each in map(check, facts)}
    assert found["mindspore"] == "2.10.0（已试用）（设备：cpu, npu:0）"
    assert found["layout"] == "Graphviz 可用"
