"""Errors in the command line itself, worded as the explorer's own."""

import re
from collections.abc import Iterator

import typer

from explorer.cli import commands
from explorer.text.choices import refusal
from explorer.text.language import _, later
from explorer.text.program_name import program

INTEGER = later("{option} must be an integer, got {value}")
NUMBER = later("{option} must be a number, got {value}")
TYPES = {
    "a valid integer": INTEGER,
    "a valid number": NUMBER,
    "a valid int": INTEGER,
    "a valid float": NUMBER,
}
"""What Typer (0.29, and below that 0.28) says that a value should be, and the explorer's message."""

MESSAGES = (
    (
        re.compile(r"Got unexpected extra argument\(s\) \((?P<value>.*)\)"),
        later("unexpected argument: {value}"),
    ),
    (
        re.compile(r"Option (?P<value>'.*') requires an argument"),
        later("option {value} requires an argument"),
    ),
    (
        re.compile(r"Option (?P<value>'.*') requires (?P<n>\d+) arguments"),
        later("option {value} requires {n} arguments"),
    ),
    (
        re.compile(r"Option (?P<value>'.*') does not take a value"),
        later("option {value} does not take a value"),
    ),
    (re.compile(r"Missing argument (?P<value>.*)"), later("missing argument {value}")),
    (re.compile(r"Missing option (?P<value>.*)"), later("missing option {value}")),
    (re.compile(r"Missing command()"), later("missing command")),
)
"""Messages of Typer (0.29) without their full stop, and the explorer's."""


def parsing_error(error: typer.TyperException, arguments: list[str]) -> str:
    """The message of a parsing error; unknown names come with the nearest match."""
    context = getattr(error, "ctx", None)
    option = getattr(error, "option_name", None)
    # Of a known option the value is missing or not allowed, which Typer's own message says.
    if context is not None and option and option not in _options(context):
        options = [name for name in _options(context) if name.startswith("--")]
        fact = _("unknown option {option} of {command}")
        fact = fact.format(option=repr(option), command=context.info_name)
        return refusal(fact, option, options)

    names = commands.names()
    words = [argument for argument in arguments if not argument.startswith("-")]
    if words and words[0] and words[0] not in names:
        fact = _("unknown command {name}").format(name=repr(words[0]))
        return refusal(fact, words[0], names)
    message = _wrong_type(error, arguments) or _typers_own(error)
    if context is None:
        return message
    text = _("{message}; see `{program} {command} --help`")
    return text.format(message=message, command=context.info_name, program=program())


def _wrong_type(error: typer.TyperException, arguments: list[str]) -> str:
    """The message of an option with a value of the wrong type; "" for any other error."""
    names = getattr(getattr(error, "param", None), "opts", [])
    for words, text in TYPES.items():
        if words in error.message and names:
            value = repr(_value_of(names, arguments))
            return _(text).format(option=names[-1], value=value)
    return ""


def _value_of(names: list[str], arguments: list[str]) -> str:
    """The last value that an option is given, after "=" or after a space."""
    value = ""
    for place, argument in enumerate(arguments):
        name, equals, text = argument.partition("=")
        if name in names:
            value = text if equals else "".join(arguments[place + 1 : place + 2])
    return value


def _typers_own(error: typer.TyperException) -> str:
    """Typer's own message as part of a sentence."""
    message = " ".join(error.format_message().split()).rstrip(".")
    for pattern, text in MESSAGES:
        match = pattern.fullmatch(message)
        if match:
            return _(text).format(**match.groupdict())
    return message[:1].lower() + message[1:]


def _options(context: typer.Context) -> list[str]:
    """The names of a command's options, long and short."""

    def names() -> Iterator[str]:
        yield from context.help_option_names
        for parameter in context.command.params:
            for name in parameter.opts:
                if name.startswith("-"):
                    yield name

    return sorted(names())
