"""The places of the shipped files: beside the package in a checkout, inside it once installed."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
"""The folder of the package ``explorer``; Python finds it when the parent is on ``sys.path``."""


def scenarios_folder() -> Path:
    """The folder of the shipped scenarios."""
    installed = PACKAGE / "scenarios"
    return installed if installed.is_dir() else PACKAGE.parent / "scenarios"


def requirements_file() -> Path | None:
    """The requirements.txt with the versions that the explorer is tried with; None once installed.

    A file of this name beside an installed package belongs to another project.
    """
    file = PACKAGE.parent / "requirements.txt"
    is_checkout = scenarios_folder().parent == PACKAGE.parent
    return file if is_checkout and file.is_file() else None
