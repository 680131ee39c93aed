"""The texts that pages say, in the reader's language: English, or a gettext catalogue's."""

import gettext
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

LOCALE = Path(__file__).parent / "locale"
"""The catalogues: app.po is written, and app.mo, which gettext reads, is compiled from it."""

DOMAIN = "app"

ENGLISH = "en"

LANGUAGES = {ENGLISH: "English", "zh": "中文"}
"""The languages by their codes, each under its own name."""

_readers: list[Callable[[], str]] = []
"""Functions that return the code of the reader's language; the last one counts."""


def _(text: str) -> str:
    """A text in the reader's language; as it is where the catalogue lacks it."""
    # Of an empty text, gettext gives the notes at the head of the catalogue.
    return _catalogue(_language()).gettext(text) if text else ""


def later(text: str) -> str:
    """Mark a text of a table as one of the catalogue's; ``_`` says it when the table is shown."""
    return text


def chosen_by(language: Callable[[], str]) -> None:
    """Say texts in the language whose code ``language`` gives at the time; English until then."""
    _readers.append(language)


def _language() -> str:
    return _readers[-1]() if _readers else ENGLISH


@lru_cache
def _catalogue(code: str) -> gettext.NullTranslations:
    # English is the language of the keys: it needs no catalogue.
    return gettext.translation(DOMAIN, LOCALE, [code], fallback=code == ENGLISH)
