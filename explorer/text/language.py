"""The texts that pages say, in the reader's language: English, or a gettext catalogue's."""

import gettext
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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

CHINESE = "\u4e00-\u9fff"
FULL_WIDTH = "，。、；：？！（）【】《》「」…"

_BLANK_AT_A_PLACE = re.compile(
    rf"(?<=[{CHINESE}}}{FULL_WIDTH}]) (?={{)|(?<=}}) (?=[{CHINESE}{{{FULL_WIDTH}])"
)
"""A blank of a Chinese template beside a place: for Latin names, which it sets off."""

_NEEDLESS_BLANK = re.compile(
    rf"(?<=[{CHINESE}])\0(?=[{CHINESE}])|(?<=[{FULL_WIDTH}])\0|\0(?=[{FULL_WIDTH}])"
)
"""Such a blank between what are no Latin names: ``\\0`` stands for it meanwhile."""

_fixed: ContextVar[str | None] = ContextVar("language", default=None)
"""The language in which texts are said for the time being, whoever reads."""

_readers: list[Callable[[], str]] = []
"""Functions that return the code of the reader's language; the last one counts."""


def _(text: str) -> str:
    """A text in the reader's language; as it is where the catalogue lacks it."""
    # Of an empty text, gettext gives the notes at the head of the catalogue.
    return _template(_catalogue(_language(), DOMAIN).gettext(text)) if text else ""


def shipped(text: str, domain: ShippedDomain, context: str = "") -> str:
    """A text of a shipped claim or scenario in the reader's language; as it is where nobody has put it there.

    Other people's claims and scenarios may have the same texts, and so their translations. A word
    that means different things has a translation in the ``context`` that differs.
    """
    if not text:
        return ""
    catalogue = _catalogue(_language(), domain)
    in_context = catalogue.pgettext(context, text) if context else text
    return _template(catalogue.gettext(text) if in_context == text else in_context)


def counted(one: str, several: str, count: float, domain: ShippedDomain) -> str:
    """The form of a shipped text for a count, in the reader's language."""
    catalogue = _catalogue(_language(), domain)
    return _template(catalogue.ngettext(one, several, 1 if count == 1 else 2))


class Template(str):
    """A text in which Chinese that fills a place has no blank on the side of other Chinese.

    "与 {engines} 不同" is "与 torch-tape 不同" and "与两个引擎不同".
    """

    __slots__ = ()

    def format(self, *args: object, **values: object) -> str:
        """Fill the places."""
        return _closed(_BLANK_AT_A_PLACE.sub("\0", self).format(*args, **values))

    def format_map(self, values: Mapping[str, object], /) -> str:  # type: ignore[override]
        """Fill the places from a mapping."""
        return _closed(_BLANK_AT_A_PLACE.sub("\0", self).format_map(values))


def _template(text: str) -> str:
    is_english = _language() == ENGLISH
    return text if is_english or not _BLANK_AT_A_PLACE.search(text) else Template(text)


def _closed(filled: str) -> str:
    return _NEEDLESS_BLANK.sub("", filled).replace("\0", " ")


def closes(before: str, after: str) -> bool:
    """Whether no blank belongs between two texts: of Chinese, or with its punctuation."""
    return bool(_NEEDLESS_BLANK.search(f"{before[-1:]}\0{after[:1]}"))


def named(words: Sequence[str]) -> str:
    """Names beside each other: "a, b, c", in Chinese "a、b、c"."""
    # Not _(", "), which separates clauses.
    text = words[0] if words else ""
    for word in words[1:]:
        text = _("{names}, {next}").format(names=text, next=word)
    return text


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
