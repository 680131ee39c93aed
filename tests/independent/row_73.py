"""Row 73: the device of a process after set_context, and what is said of it."""

import os
import re
import tempfile
from typing import Any

from tests.independent.attempts import attempt

WARNING = re.compile(r"For 'context.set_context', .*")


def in_mindspore_tape() -> dict[str, Any]:
    """The device after a call for the CPU, what it warns of, and what a call for Ascend raises."""
    import mindspore as ms

    def to_ascend() -> Any:
        ms.set_context(device_target="Ascend", device_id=0)
        return ms.get_context("device_target")

    refused = attempt(to_ascend)
    # What MindSpore logs goes to the process's standard error.
    with tempfile.TemporaryFile("w+") as log:
        shown = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            ms.set_context(device_target="CPU", device_id=0)
        finally:
            os.dup2(shown, 2)
            os.close(shown)
        log.seek(0)
        warnings = WARNING.findall(log.read())
    return {"CPU": ms.get_context("device_target"), "Ascend": refused, "warnings": warnings}
