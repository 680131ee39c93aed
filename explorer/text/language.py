"""The texts that pages say, in the reader's language: English, or a gettext catalogue's."""

import gettext
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Literal

LOCALE = Path(__file__).parent / "locale"
"""The catalogues: app.po is written, and app.mo, which gettext reads, is compiled from it."""

DOMAIN = "app"

ShippedDomain = Literal["topics", "scenarios"]
"""The catalogues of what the shipped studies and claims, and the shipped scenarios say."""

ENGLISH = "en"

LANGUAGES = {ENGLISH: "English", "zh": "中文"}
"""The languages by their codes, each under its own name."""

VARIABLE = "EXPLORER_LANG"
"""The variable that names the language of the shell command."""

_fixed: ContextVar[str | None] = ContextVar("language", default=None)
"""The language in which texts are said for the time being, whoever reads."""

_readers: list[Callable[[], str]] = []
"""Functions that return the code of the reader's language; the last one counts."""


def _(text: str) -> str:
    """A text in the reader's language; as it is where the catalogue lacks it."""
    # Of an empty text, gettext gives the notes at the head of the catalogue.
    return _catalogue(_language(), DOMAIN).gettext(text) if text else ""


def shipped(text: str, domain: ShippedDomain, context: str = "") -> str:
    """A text of a shipped claim or scenario in the reader's language; as it is where nobody has put it there.

    Other people's claims and scenarios may have the same texts, and so their translations. A word
    that means different things has a translation in the ``context`` that differs.
    """
    if not text:
        return ""
    catalogue = _catalogue(_language(), domain)
    in_context = catalogue.pgettext(context, text) if context else text
    return catalogue.gettext(text) if in_context == text else in_context


def counted(one: str, several: str, count: float, domain: ShippedDomain) -> str:
    """The form of a shipped text for a count, in the reader's language."""
    return _catalogue(_language(), domain).ngettext(one, several, 1 if count == 1 else 2)


def later(text: str) -> str:
    """Mark a text of a table as one of the catalogue's; ``_`` says it when the table is shown."""
    return text


def code() -> str:
    """The code of the reader's language: "en", "zh"."""
    return _language()


@contextmanager
def said_in(language: str) -> Iterator[None]:
    """Say texts in one language, whatever the reader's is: a document for programs is English."""
    token = _fixed.set(language)
    try:
        yield
    finally:
        _fixed.reset(token)


def wished(environment: Mapping[str, str] = os.environ) -> str:
    """The language that the environment asks for: EXPLORER_LANG, else the locale's; English otherwise.

    An unknown one in EXPLORER_LANG is given back as it is: the caller refuses it.
    """
    own = environment.get(VARIABLE, "")
    if own:
        return own
    # In the order in which POSIX gives them weight.
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            spoken = environment[name].replace("-", "_").split("_")[0].lower()
            return spoken if spoken in LANGUAGES else ENGLISH
    return ENGLISH


def chosen_by(language: Callable[[], str]) -> None:
    """Say texts in the language whose code ``language`` gives at the time; English until then."""
    _readers.append(language)


def _language() -> str:
    fixed = _fixed.get()
    if fixed is not None:
        return fixed
    return _readers[-1]() if _readers else ENGLISH


@lru_cache
def _catalogue(code: str, domain: str) -> gettext.NullTranslations:
    # English is the language of the keys: it needs no catalogue.
    return gettext.translation(domain, LOCALE, [code], fallback=code == ENGLISH)
