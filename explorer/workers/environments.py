"""What MindSpore must be told before it starts, so that it writes its compiler passes and every
kernel's values to files.
"""

import json
from collections.abc import Callable
from pathlib import Path

from explorer.model.engines import Kind

PASSES = ("type_inference", "opt_pass_2_opt_a", "validate")
"""The program as written, with its gradient expanded, and as it is handed to the kernels (2.10.0).
"""

EVERY_STEP = "3"
"""The level at which the steps within a pass are written too; 1 writes passes alone, 2 the
backend's as well (2.10.0).
"""

IR = "ir"
DUMP = "dump"
SETTINGS = "MINDSPORE_DUMP_CONFIG"
"""The variable that names the file with the dump's settings."""

OUTPUTS_ALONE = 2
"""What the dump's ``input_output`` is for outputs without inputs: an input is another kernel's
output, and each is a file.
"""


def capture_environment(scratch: Path, values: bool = True) -> dict[str, str]:
    """Variables of a worker that captures graphs, all read when MindSpore starts; writes the dump's
    settings to ``scratch``.

    Without ``values`` no kernel's values are written: such a worker captures graphs without values,
    and sooner.
    """
    passes = {
        "MS_DEV_SAVE_GRAPHS": "1",
        "MS_DEV_SAVE_GRAPHS_PATH": str(scratch / IR),
        "MS_DEV_DUMP_IR_PASSES": ",".join(PASSES),
    }
    return {**passes, SETTINGS: str(_settings(scratch))} if values else passes


def _settings(scratch: Path) -> Path:
    settings = scratch / "dump.json"
    common = {
        "op_debug_mode": 0,
        "dump_mode": 0,
        "path": str(scratch / DUMP),
        "net_name": "Net",
        "iteration": "all",
        "saved_data": "tensor",
        "input_output": OUTPUTS_ALONE,
        "kernels": [],
        "support_device": [0],
    }
    settings.write_text(
        json.dumps(
            {
                "common_dump_settings": common,
                "e2e_dump_settings": {"enable": True, "trans_flag": True},
            }
        )
    )
    return settings


def passes_environment(scratch: Path) -> dict[str, str]:
    """Variables of a worker that writes down what each compiler pass, and each step within one,
    makes of a program.
    """
    return {"MS_DEV_SAVE_GRAPHS": EVERY_STEP, "MS_DEV_SAVE_GRAPHS_PATH": str(scratch / IR)}


ENVIRONMENTS: dict[Kind, Callable[[Path], dict[str, str]]] = {
    "mindspore-capture": capture_environment,
    "mindspore-passes": passes_environment,
}
"""The kinds of worker that need variables of their own, which are made for a scratch folder."""
