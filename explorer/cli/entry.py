"""The entry point of the command line, and its exit codes for errors.

Every error meant for a person becomes one message on stderr and an exit code.
"""

import gc
import os
import re
import sys
from typing import NoReturn

import typer

from explorer.cli import commands, exit_codes
from explorer.cli.language import divided
from explorer.model.errors import ExplorerError, WorkerFaultError
from explorer.text.choices import refusal
from explorer.text.clean import clean
from explorer.text.language import said_in

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
        language, arguments = divided(arguments)
        with said_in(language):
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
    # An option that is known lacks its value, which Typer's own message says.
    if context is not None and option and option not in _options(context):
        options = [name for name in _options(context) if name.startswith("--")]
        return refusal(f"unknown option {option!r} of {context.info_name}", option, options)

    names = commands.names()
    words = [argument for argument in arguments if not argument.startswith("-")]
    if words and words[0] and words[0] not in names:
        return refusal(f"unknown command {words[0]!r}", words[0], names)
    message = _wrong_value(error, arguments) or _typers_own(error)
    if context is None:
        return message
    return f"{message}; see `explorer {context.info_name} --help`"


EXPECTED = {"a valid integer": "an integer", "a valid number": "a number"}
"""What Typer (0.29) says that a value should be, and what an error of the explorer says."""


def _wrong_value(error: typer.TyperException, arguments: list[str]) -> str:
    """The message of an option with a value of the wrong type; "" for any other error."""
    names = getattr(getattr(error, "param", None), "opts", [])
    for words, expected in EXPECTED.items():
        if words in error.message and names:
            return f"{names[-1]} must be {expected}, got {_value_of(names, arguments)!r}"
    return ""


def _value_of(names: list[str], arguments: list[str]) -> str:
    """The last value that an option is given, after "=" or after a space."""
    value = ""
    for place, argument in enumerate(arguments):
        name, equals, text = argument.partition("=")
        if name in names:
            value = text if equals else "".join(arguments[place + 1 : place + 2])
    return value


EXTRA = re.compile(r"^Got unexpected extra argument\(s\) \((.*)\)$")
"""What Typer (0.29) says of arguments beyond those that a command takes."""


def _typers_own(error: typer.TyperException) -> str:
    """Typer's own message as part of a sentence."""
    message = " ".join(error.format_message().split()).rstrip(".")
    message = EXTRA.sub(r"unexpected argument: \1", message)
    return message[:1].lower() + message[1:]


def _options(context: typer.Context) -> list[str]:
    """The names of a command's options, long and short."""
    options = list(context.help_option_names)
    for parameter in context.command.params:
        options.extend(name for name in parameter.opts if name.startswith("-"))
    return sorted(options)
