"""The catalogues of texts in Chinese, as they are written."""

from functools import cache
from typing import NamedTuple

from babel.messages.pofile import read_po

from explorer.text.language import LOCALE

DOMAINS = ("app", "topics", "scenarios")


class Entry(NamedTuple):
    """A text, in English by its forms in singular and plural, and in Chinese, which has one form."""

    english: tuple[str, ...]
    chinese: str
    context: str
    is_doubtful: bool


@cache
def entries(domain: str) -> tuple[Entry, ...]:
    """The texts of a catalogue."""
    with (LOCALE / "zh" / "LC_MESSAGES" / f"{domain}.po").open("rb") as file:
        read = read_po(file, locale="zh", domain=domain)
    made = []
    for message in read:
        english = (message.id,) if isinstance(message.id, str) else tuple(message.id)
        chinese = message.string if isinstance(message.string, str) else (message.string or [""])[0]
        if any(english):
            context = message.context or ""
            made.append(Entry(english, str(chinese), context, bool(message.fuzzy)))
    return tuple(made)


@cache
def translations(domain: str) -> dict[str, str]:
    """The texts of a catalogue in Chinese by their English, of a count by that of one."""
    return {entry.english[0]: entry.chinese for entry in entries(domain)}
