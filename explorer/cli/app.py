"""The ``app`` command: becomes Streamlit, which runs the app."""

import errno
import importlib
import importlib.util
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

from explorer.cli.options import AppOptions
from explorer.model.errors import MissingFrameworkError, UsageError
from explorer.shipped import PACKAGE
from explorer.text.language import _
from explorer.text.messages import one_line
from explorer.text.reasons import reason
from explorer.text.remedies import missing

SERVER = PACKAGE / "web" / "server.py"
"""The script that Streamlit runs; it serves the pages."""

SCENARIOS = "EXPLORER_SCENARIOS"
"""The variable with the files and folders that the app shows in addition to the shipped ones."""

LOCAL = "127.0.0.1"
"""The address of the app by default; explorer/web/.streamlit/config.toml has the same."""

UNIX_SOCKET = "unix://"
"""What begins an address that is a file."""


def start_app(options: AppOptions) -> NoReturn:
    """Become ``streamlit run``: Ctrl-C and the exit code are the server's own.

    Raises UsageError for a path that is no file or folder of scenarios, and for an option that
    Streamlit would reject.
    """
    if importlib.util.find_spec("streamlit") is None:
        raise missing("streamlit", _("the app"))
    _check_tables()
    paths, server_options = divided(options.arguments or [])
    named = [_checked(path) for path in paths]
    check_options(str(SERVER), server_options)
    if named:
        configured = os.environ.get(SCENARIOS)
        os.environ[SCENARIOS] = os.pathsep.join([*named, configured] if configured else named)
    # What is still in our buffers would be lost with this program.
    sys.stdout.flush()
    command = [sys.executable, "-m", "streamlit", "run", str(SERVER), *server_options]
    if sys.platform == "win32":  # there the shell would not wait for the new program
        sys.exit(subprocess.call(command))
    os.execv(sys.executable, command)


def _check_tables() -> None:
    """Raise MissingFrameworkError for a pyarrow that this numpy cannot be used with."""
    try:
        importlib.import_module("pyarrow")
    except ImportError as error:
        # 26 installs beside numpy 1 and then refuses to be imported; Streamlit's tables need it.
        text = _(
            "the app's tables need a pyarrow that goes with numpy {version}: {reason}; run {command}"
        )
        raise MissingFrameworkError(
            text,
            version=version("numpy"),
            reason=one_line(str(error)),
            command='python -m pip install "pyarrow<26"',
        ) from error


def divided(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paths among the arguments, and the options of Streamlit with their values."""
    paths: list[str] = []
    options: list[str] = []
    takes_value = False
    for argument in arguments:
        is_option = argument.startswith("-")
        if is_option or takes_value:
            options.append(argument)
        else:
            paths.append(argument)
        # All of Streamlit's options take a value, after "=" or after a space.
        takes_value = is_option and "=" not in argument
    return paths, options


def _checked(name: str) -> str:
    """The absolute path of a scenario file, or of a folder."""
    path = Path(name).resolve()
    if os.pathsep in str(path):
        text = _("{name} cannot be opened: its path contains {character}; rename or move it")
        raise UsageError(text.format(name=repr(name), character=repr(os.pathsep)))
    if path.is_dir() or (path.is_file() and path.suffix == ".py"):
        return str(path)
    text = _("{name} does not exist; give .py files with scenarios, or folders of them")
    if path.exists():
        text = _("{name} is not a .py file; give .py files with scenarios, or folders of them")
    raise UsageError(text.format(name=repr(name)))


# Options of Streamlit, checked before this process becomes Streamlit: it would report a mistake
# in its own name, or with a traceback.


def check_options(script: str, options: Sequence[str]) -> None:
    """Raise UsageError for an unknown option, a wrong value, or an address it cannot serve."""
    values = _parsed(script, options)
    address, port = values["server_address"] or LOCAL, values["server_port"] or 0
    if not address.startswith(UNIX_SOCKET):
        _check_place(address, port)


def _parsed(script: str, options: Sequence[str]) -> dict[str, Any]:
    """The values of all of Streamlit's options by their names; None where nothing is given."""
    # Streamlit is imported when the app is started, and by no other command.
    import click
    from streamlit.web.cli import main_run

    try:
        return dict(main_run.make_context("run", [script, *options]).params)
    except click.ClickException as error:
        raise _refused(error.format_message()) from error
    except SystemExit as error:  # an option that is allowed only in a file
        raise _refused(str(error.code)) from error


def _refused(message: str) -> UsageError:
    """An error with a message of Click's as part of a sentence."""
    message = " ".join(message.split()).rstrip(".")
    text = _(
        "app: {message}; `python -m streamlit run --help` lists the options of the app's server"
    )
    return UsageError(text.format(message=message[:1].lower() + message[1:]))


def _check_place(address: str, port: int) -> None:
    """Raise UsageError for an address and a port at which nothing can be served here."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            # As Streamlit sets it: the port of a server that has just ended is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address, port))
    except OverflowError as error:
        text = _("--server.port must be from 0 (any free port) to 65535, got {port}")
        raise UsageError(text.format(port=port)) from error
    except PermissionError as error:
        text = _("--server.port {port} needs administrator rights ({reason}); give one above 1023")
        raise UsageError(text.format(port=port, reason=reason(error))) from error
    except (OSError, UnicodeError) as error:
        # Of a port that is taken Streamlit says so itself, or takes the next one.
        if getattr(error, "errno", None) != errno.EADDRINUSE:
            text = _(
                "--server.address {address} is not an address of this machine ({reason});"
                " give {local} to serve this machine only, or 0.0.0.0 to serve the network"
            )
            text = text.format(address=repr(address), reason=reason(error), local=LOCAL)
            raise UsageError(text) from error
