"""The ``app`` command: becomes Streamlit, which runs the app."""

import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from explorer.cli.server_options import check_options
from explorer.exploration.doctor import remedy
from explorer.model.errors import MissingFrameworkError, UsageError
from explorer.shipped import PACKAGE

SERVER = PACKAGE / "web" / "server.py"
"""The script that Streamlit runs; it serves the pages."""


SCENARIOS = "EXPLORER_SCENARIOS"
"""The environment variable with the files and folders that the app shows beside the shipped ones."""


def start_app(arguments: Sequence[str]) -> NoReturn:
    """Become ``streamlit run``: Ctrl-C and the exit code are the server's own.

    ``arguments`` are files and folders with scenarios, and options of Streamlit. Raises UsageError
    for a path that is neither, and for an option that Streamlit would reject.
    """
    if importlib.util.find_spec("streamlit") is None:
        raise MissingFrameworkError(
            f"the app needs Streamlit, which is not installed; run {remedy('streamlit')}"
        )
    paths, options = divided(arguments)
    named = [_checked(path) for path in paths]
    check_options(str(SERVER), options)
    if named:
        configured = os.environ.get(SCENARIOS)
        os.environ[SCENARIOS] = os.pathsep.join([*named, configured] if configured else named)
    # What is still in our buffers would be lost with this program.
    sys.stdout.flush()
    command = [sys.executable, "-m", "streamlit", "run", str(SERVER), *options]
    os.execv(sys.executable, command)


def divided(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paths among the arguments, and the options of Streamlit with their values."""
    paths: list[str] = []
    options: list[str] = []
    takes_value = False
    for argument in arguments:
        is_option = argument.startswith("-")
        (options if is_option or takes_value else paths).append(argument)
        # All of Streamlit's options take a value, after "=" or after a space.
        takes_value = is_option and "=" not in argument
    return paths, options


def _checked(name: str) -> str:
    """The absolute path of a scenario file, or of a folder."""
    path = Path(name).resolve()
    if os.pathsep in str(path):
        raise UsageError(
            f"{name!r} cannot be opened: its path contains {os.pathsep!r}; rename or move it"
        )
    if path.is_dir() or (path.is_file() and path.suffix == ".py"):
        return str(path)
    problem = "is not a .py file" if path.exists() else "does not exist"
    raise UsageError(f"{name!r} {problem}; give .py files with scenarios, or folders of them")
