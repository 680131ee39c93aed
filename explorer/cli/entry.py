"""The entry point of the command line: its language, and exit codes and messages for errors.

Every error meant for a person becomes one message on stderr and an exit code.
"""

import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from explorer.cli import commands, exit_codes
from explorer.cli.parsing_errors import parsing_error
from explorer.model.errors import ExplorerError, UsageError, WorkerFaultError
from explorer.text.choices import refusal
from explorer.text.clean import clean
from explorer.text.failures import loss_text
from explorer.text.language import ENGLISH, LANGUAGES, VARIABLE, _, said_in, wished

SHOW_TRACEBACK = "EXPLORER_TRACEBACK"
"""The variable that shows where in a worker an internal error was raised."""

LANGUAGE = "--lang"
"""The option that names the language, before the command or after it."""

NEW_OBJECTS = 50_000
"""After so many new objects Python looks for garbage among them.

At its default of 700 (3.11), that takes a tenth of a command whose results are stored.
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
    """Replace this process by one with UTF-8 paths and texts, if the locale has another encoding."""
    if sys.getfilesystemencoding() == "utf-8" or sys.flags.utf8_mode:
        return
    os.environ["PYTHONUTF8"] = "1"
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def run(arguments: list[str]) -> int:
    """The exit code of the command line ``arguments``."""
    preferred = wished()
    try:
        # A language that is refused is refused in the one that the environment names.
        with said_in(preferred if preferred in LANGUAGES else ENGLISH):
            language, arguments = divided(arguments)
    except UsageError as error:
        return _print_error(str(error), error.exit_code)
    with said_in(language):
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    try:
        # Outside standalone mode Typer returns what a command returns, and raises its refusals.
        return int(commands.app(arguments, standalone_mode=False, prog_name="explorer") or 0)
    except ExplorerError as error:
        return _print_error(str(error), error.exit_code)
    except typer.TyperException as error:
        return _print_error(parsing_error(error, arguments), exit_codes.USAGE_ERROR)
    except (KeyboardInterrupt, typer.Abort):
        return exit_codes.INTERRUPTED
    except WorkerFaultError as error:
        if os.environ.get(SHOW_TRACEBACK):
            raise
        text = _("{error}; set {variable}=1 for the whole traceback")
        message = text.format(error=loss_text(error.loss), variable=SHOW_TRACEBACK)
        return _print_error(message, exit_codes.LOST)


def divided(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The code of the language that the arguments or the environment name, and the other arguments.

    The last option counts. Raises UsageError for an unknown language.
    """
    rest: list[str] = []
    language, source = wished(), VARIABLE
    waiting = list(arguments)
    while waiting:
        argument = waiting.pop(0)
        name, equals, value = argument.partition("=")
        if name != LANGUAGE:
            rest.append(argument)
        elif equals or waiting:
            language, source = value if equals else waiting.pop(0), LANGUAGE
        else:
            text = _("{option} needs a value: {languages}")
            languages = _(" or ").join(LANGUAGES)
            raise UsageError(text.format(option=LANGUAGE, languages=languages))
    if language not in LANGUAGES:
        fact = _("unknown language {name} in {source}")
        fact = fact.format(name=repr(language), source=source)
        raise UsageError(refusal(fact, language, list(LANGUAGES)))
    return language, rest


def _print_error(message: str, code: int) -> int:
    """Print one message on stderr, and return the exit code that goes with it."""
    print(f"explorer: {clean(message, keep=chr(10))}", file=sys.stderr)
    return code
