"""The language of the shell command: ``--lang``, EXPLORER_LANG, or the locale's."""

from collections.abc import Sequence

from explorer.model.errors import UsageError
from explorer.text.choices import refusal
from explorer.text.language import LANGUAGES, VARIABLE, wished

OPTION = "--lang"


def divided(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The code of the language that the arguments or the environment ask for, and the other arguments.

    The option may stand before the command or after it; the last one counts. Raises UsageError for
    a language that there is not.
    """
    rest: list[str] = []
    asked, source = wished(), VARIABLE
    waiting = list(arguments)
    while waiting:
        argument = waiting.pop(0)
        name, equals, value = argument.partition("=")
        if name != OPTION:
            rest.append(argument)
        elif equals or waiting:
            asked, source = value if equals else waiting.pop(0), OPTION
        else:
            raise UsageError(f"{OPTION} needs a value: {' or '.join(LANGUAGES)}")
    if asked not in LANGUAGES:
        raise UsageError(refusal(f"unknown language {asked!r} in {source}", asked, list(LANGUAGES)))
    return asked, rest
