"""A version of a framework whose steps are not recorded: the program goes on, and it is said why."""

import sys
import types
from pathlib import Path

import pytest

from explorer.model.trace import Missing, NotRecordedError, fault
from explorer.recording import scripts
from explorer.recording.blocks import RecordingWarning
from explorer.words.traces import missing_text

MISSING = Missing("other_version", "JAX 0.6")


def test_a_reason_that_is_known_is_no_fault_of_the_recorder() -> None:
    assert fault(NotRecordedError(MISSING)) == MISSING
    assert missing_text(MISSING) == (
        "not recorded: steps of this version: they are recorded in JAX 0.6"
    )
    assert fault(ValueError("odd")).kind == "fault"


def test_a_program_whose_steps_cannot_be_waited_for_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class StepStarts:
        def __init__(self, *_: object) -> None:
            pass

        def watch(self) -> None:
            raise NotRecordedError(MISSING)

    module = types.ModuleType("steps_of_another_version")
    module.StepStarts = StepStarts  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(scripts.STARTS, "jax", module.__name__)
    script = scripts.RecordedScript(tmp_path / "step.trace", 1, 0)
    with pytest.warns(RecordingWarning, match="step.trace: no step is recorded: .* of JAX 0.6"):
        script.imported("jax")
    assert not list(tmp_path.iterdir())
