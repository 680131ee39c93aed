"""The entry point of the command line, and its exit codes for errors.

Every error meant for a person becomes one message on stderr and an exit code.
"""

import gc
import os
import sys
from typing import NoReturn

import typer

from explorer.cli import commands, exit_codes
from explorer.model.errors import ExplorerError, WorkerFaultError
from explorer.text.choices import refusal
from explorer.text.clean import clean

SHOW_TRACEBACK = "EXPLORER_TRACEBACK"
"""The variable that shows where in a worker a fault of our own was raised."""

NEW_OBJECTS = 50_000
"""After so many new objects Python looks for garbage among them.

At 700, as it does by itself (3.11), a tenth of a command whose results are stored is spent on that.
"""


def main() -> NoReturn:
    """Run the command line of this process, and exit."""
    _start_again_with_utf8()
    gc.set_threshold(NEW_OBJECTS)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character shows its number, where Python would raise.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))


def _start_again_with_utf8() -> None:
    """Replace this process by one whose paths and texts are UTF-8, where the locale knows no such letters."""
    if sys.getfilesystemencoding() == "utf-8" or sys.flags.utf8_mode:
        return
    os.environ["PYTHONUTF8"] = "1"
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def run(arguments: list[str]) -> int:
    """The exit code of the command line ``arguments``."""
    try:
        # Outside standalone mode Typer returns what a command returns, and raises its refusals.
        return int(commands.app(arguments, standalone_mode=False, prog_name="explorer") or 0)
    except ExplorerError as error:
        return _print_error(str(error), error.exit_code)
    except typer.TyperException as error:
        return _print_error(_parsing_error(error, arguments), exit_codes.USAGE_ERROR)
    except (KeyboardInterrupt, typer.Abort):
        return exit_codes.INTERRUPTED
    except WorkerFaultError as error:
        if os.environ.get(SHOW_TRACEBACK):
            raise
        message = f"{error.line}; set {SHOW_TRACEBACK}=1 for the whole traceback"
        return _print_error(message, exit_codes.LOST)


def _print_error(message: str, code: int) -> int:
    """Print one message on stderr; the exit code that goes with it is handed back."""
    print(f"explorer: {clean(message, keep=chr(10))}", file=sys.stderr)
    return code


def _parsing_error(error: typer.TyperException, arguments: list[str]) -> str:
    """The message of a parsing error; unknown names come with the nearest match."""
    context = getattr(error, "ctx", None)
    option = getattr(error, "option_name", None)
    if context is not None and option:
        options = _long_options(context)
        return refusal(f"unknown option {option!r} of {context.info_name}", option, options)

    names = commands.names()
    words = [argument for argument in arguments if not argument.startswith("-")]
    if words and words[0] and words[0] not in names:
        return refusal(f"unknown command {words[0]!r}", words[0], names)
    # Anything else, such as a value of the wrong type, Typer reports well enough itself.
    message = error.format_message().strip().replace("\n", " ")
    return message[:1].lower() + message[1:]


def _long_options(context: typer.Context) -> list[str]:
    options: list[str] = []
    for parameter in context.command.params:
        options.extend(option for option in parameter.opts if option.startswith("--"))
    return sorted(options)
