"""The ``app`` command: becomes Streamlit, which runs the app."""

import importlib.util
import os
import sys
from typing import NoReturn

from explorer.exploration.requirements import remedy
from explorer.model.errors import MissingFrameworkError
from explorer.shipped import PACKAGE

SERVER = PACKAGE / "web" / "server.py"
"""What Streamlit is started with: it serves the pages."""


def start_app(streamlit_options: list[str]) -> NoReturn:
    """Become ``streamlit run``: Ctrl-C and the exit code are Streamlit's own."""
    if importlib.util.find_spec("streamlit") is None:
        raise MissingFrameworkError(
            f"the app needs streamlit, which is not installed: {remedy('streamlit')}"
        )
    # What is still in our buffers would be lost with this program.
    sys.stdout.flush()
    command = [sys.executable, "-m", "streamlit", "run", str(SERVER), *streamlit_options]
    os.execv(sys.executable, command)
