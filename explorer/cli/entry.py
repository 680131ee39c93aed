"""Where a command starts and ends: every error meant for a person becomes one message on stderr and
an exit code.
"""

import os
import sys
from typing import NoReturn

import typer

from explorer.cli import commands
from explorer.model.errors import ExplorerError
from explorer.text.choices import refusal
from explorer.text.clean import clean

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""

WORKER_FAULT = 3
SHOW_TRACEBACK = "EXPLORER_TRACEBACK"


def main() -> NoReturn:
    """Run the command line of this process, and exit."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(
                errors="backslashreplace"
            )  # a terminal without the character at hand shows its number
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """The exit code of the command line ``arguments``."""
    try:
        return int(commands.app(arguments, standalone_mode=False, prog_name="explorer") or 0)
    except ExplorerError as error:
        return _say(str(error), error.exit_code)
    except typer.TyperException as error:
        return _say(_parsing(error, arguments), 2)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except RuntimeError as error:
        if type(error).__name__ != "WorkerFaultError" or os.environ.get(SHOW_TRACEBACK):
            raise
        last = str(error).strip().rpartition("\n")[2]
        return _say(
            f"a fault of the explorer itself, in a worker: {last} (set {SHOW_TRACEBACK}=1 to see where)",
            WORKER_FAULT,
        )


def _say(message: str, code: int) -> int:
    print(f"explorer: {clean(message, keep=chr(10))}", file=sys.stderr)
    return code


def _parsing(error: typer.TyperException, arguments: list[str]) -> str:
    """What Typer refused, in our words: commands and options are named with the nearest match."""
    message = error.format_message().strip().replace("\n", " ")
    context = getattr(error, "ctx", None)
    option = getattr(error, "option_name", None)
    if context is not None and option:
        known = sorted(
            name
            for parameter in context.command.params
            for name in parameter.opts
            if name.startswith("--")
        )
        return refusal(f"{context.info_name} has no option {option!r}", option, known)
    command = next((word for word in arguments if not word.startswith("-")), "")
    if command and command not in commands.names():
        return refusal(f"no command is called {command!r}", command, commands.names())
    return message[:1].lower() + message[1:]
