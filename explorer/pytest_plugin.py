"""pytest's option --explorer-report: where a failed assert_same_gradients() puts its report.

Loaded by pytest wherever the explorer is installed: it imports next to nothing.
"""

import os
from pathlib import Path
from typing import Any

REPORTS = "EXPLORER_REPORTS"
"""The environment variable with the folder, which the processes of pytest-xdist inherit."""


def pytest_addoption(parser: Any) -> None:
    """Add the option."""
    group = parser.getgroup("explorer", "gradients of nets in MindSpore and PyTorch")
    group.addoption(
        "--explorer-report",
        metavar="DIR",
        default=None,
        help="folder in which assert_same_gradients() writes an HTML report for each failure",
    )


def pytest_configure(config: Any) -> None:
    """Set the folder for this process, and for those that it starts."""
    folder = config.getoption("--explorer-report", default=None)
    if folder:
        os.environ[REPORTS] = str(Path(folder).resolve())
