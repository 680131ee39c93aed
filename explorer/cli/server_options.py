"""The options of ``app`` that are Streamlit's, checked before this process becomes Streamlit.

It would answer in its own name, or with a traceback.
"""

import errno
import socket
from collections.abc import Sequence
from typing import Any

from explorer.model.errors import UsageError

HELP = "`python -m streamlit run --help` lists the options of the app's server"

LOCAL = "127.0.0.1"
"""The address of the app by default; explorer/web/.streamlit/config.toml has the same."""

UNIX_SOCKET = "unix://"
"""What begins an address that is a file."""


def check_options(script: str, options: Sequence[str]) -> None:
    """Raise UsageError for an option that Streamlit lacks, a wrong value, and a place it cannot serve."""
    values = _parsed(script, options)
    address, port = values["server_address"] or LOCAL, values["server_port"] or 0
    if not address.startswith(UNIX_SOCKET):
        _check_place(address, port)


def _parsed(script: str, options: Sequence[str]) -> dict[str, Any]:
    """The values of all of Streamlit's options, by its names for them; None where nothing is given."""
    # Streamlit is imported when the app is started, and by no other command.
    import click
    from streamlit.web.cli import main_run

    try:
        return dict(main_run.make_context("run", [script, *options]).params)
    except click.ClickException as error:
        raise UsageError(f"app: {_sentence(error.format_message())}; {HELP}") from error
    except SystemExit as error:  # an option that is allowed only in a file
        raise UsageError(f"app: {_sentence(str(error.code))}; {HELP}") from error


def _sentence(message: str) -> str:
    """A message of Click's as part of a sentence."""
    message = " ".join(message.split()).rstrip(".")
    return message[:1].lower() + message[1:]


def _check_place(address: str, port: int) -> None:
    """Raise UsageError for an address and a port at which nothing can be served here."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            # As Streamlit sets it: the port of a server that has just ended is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address, port))
    except OverflowError as error:
        raise UsageError(
            f"--server.port must be from 0 (any free port) to 65535, got {port}"
        ) from error
    except PermissionError as error:
        raise UsageError(
            f"--server.port {port} needs administrator rights ({error.strerror}); give one above 1023"
        ) from error
    except (OSError, UnicodeError) as error:
        # Of a port that is taken Streamlit says so itself, or takes the next one.
        if getattr(error, "errno", None) != errno.EADDRINUSE:
            raise UsageError(
                f"--server.address {address!r} is not an address of this machine ({_why(error)});"
                f" give {LOCAL} to serve this machine only, or 0.0.0.0 to serve the network"
            ) from error


def _why(error: OSError | UnicodeError) -> str:
    return getattr(error, "strerror", None) or str(error)
