"""pytest's option --explorer-report: where a failed assert_same_gradients() puts its report.

Loaded by pytest wherever the explorer is installed: it imports next to nothing.
"""

import os
from pathlib import Path
from typing import Any

REPORTS = "EXPLORER_REPORTS"
"""The variable that names the folder: the processes of pytest-xdist know it too."""


def pytest_addoption(parser: Any) -> None:
    """Add the option."""
    group = parser.getgroup("explorer", "gradients of nets in MindSpore and PyTorch")
    group.addoption(
        "--explorer-report",
        metavar="DIR",
        default=None,
        help="where assert_same_gradients() writes one HTML page for each failure",
    )


def pytest_configure(config: Any) -> None:
    """Tell the folder to this process, and to those that it starts."""
    folder = config.getoption("--explorer-report", default=None)
    if folder:
        os.environ[REPORTS] = str(Path(folder).resolve())
