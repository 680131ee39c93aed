"""Directives in the fenced blocks of a document: a kind, a subject, and options, all checked."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import msgspec

from explorer import drawing
from explorer.drawing.views import VIEWS
from explorer.exploration.options import check_engine
from explorer.model.cases import Api
from explorer.model.errors import UsageError
from explorer.model.report import CaseVerdict
from explorer.scenario.find import find
from explorer.scenario.selection import SELECTIONS
from explorer.text.choices import choose
from explorer.text.language import _
from explorer.words.lists import listed

FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)$")


class Fence(msgspec.Struct, frozen=True):
    """A fenced block: the words behind the fence, the lines in it, and where in the text it stands.

    From ``start`` up to ``end``, fences included; ``line`` counts from 1.
    """

    info: str
    content: str
    start: int
    end: int
    line: int


def fences(text: str) -> list[Fence]:
    """The blocks of a text; one inside another is part of its content. One without an end is none."""
    found = []
    opening: re.Match[str] | None = None
    start = position = first_line = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        match = FENCE.match(line.rstrip("\r\n"))
        if match and opening is None:
            opening, start, first_line = match, position, number
        elif match and opening and _closes(match, opening):
            content = text[start + text[start:].index("\n") + 1 : position]
            end = position + len(line.rstrip("\r\n"))
            found.append(Fence(opening["info"].strip(), content, start, end, first_line))
            opening = None
        position += len(line)
    return found


def _closes(match: re.Match[str], opening: re.Match[str]) -> bool:
    """Whether a fence is of the same kind as the one that opened, no shorter, and has no words."""
    return match["fence"].startswith(opening["fence"]) and not match["info"].strip()


SHARED = ("caption", "alt", "width", "align", "folder")
"""The options of everything that is a figure; ``folder`` is for documents with files beside them."""

KINDS: dict[str, tuple[str, ...]] = {
    "gradient-graph": ("engines", "case", "view", "depth", "stage", "device", *SHARED),
    "gradient-diff": ("engines", "case", "device", *SHARED),
    "gradient-table": ("cases", "api", "verdict", "engines", "order", "device", "caption"),
    "gradient-claim": ("code",),
}
"""Each kind of directive with its options."""

DEFAULT_ENGINES = {
    "gradient-graph": ("torch-tape", "mindspore-graph"),
    "gradient-diff": ("torch-tape", "mindspore-graph"),
    "gradient-table": (),
}
"""The engines of a directive that names none; for a table all."""

ALIGNMENTS = ("left", "center", "right")

UNITS = ("%", "px", "pt", "em", "cm", "mm", "in", "")


FOLDER = re.compile(r"[\w./-]+")


class Directive(msgspec.Struct, frozen=True):
    """One thing that a document shows.

    ``subject`` is a scenario's name or file, or the number of a claim. ``options`` are texts by name;
    one that is missing has its default.
    """

    kind: str
    subject: str
    options: dict[str, str] = {}

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that are named, or those of the kind."""
        named = self.options.get("engines", "")
        chosen = tuple(name.strip() for name in named.split(",") if name.strip())
        return chosen or DEFAULT_ENGINES.get(self.kind, ())

    @property
    def depth(self) -> drawing.Depth:
        """The depth at which modules are collapsed."""
        text = self.options.get("depth", "fit")
        return int(text) if text.isdecimal() else text  # type: ignore[return-value]  # checked


def directive(kind: str, subject: str, options: Mapping[str, str], folder: Path) -> Directive:
    """A checked directive of a document in ``folder``, from which a scenario's file is named.

    Raises UsageError, which says what is allowed.
    """
    choose("block", kind, KINDS)
    for name in options:
        choose(_("option of {kind}").format(kind=kind), name, KINDS[kind])
    texts = {name: text.strip() for name, text in options.items()}
    made = Directive(kind, _subject(kind, subject.strip(), folder), texts)
    for name, check in CHECKS.items():
        if name in texts:
            check(texts[name])
    _check_engines(made)
    return made


def _subject(kind: str, subject: str, folder: Path) -> str:
    if not subject:
        if kind == "gradient-claim":
            raise UsageError(_("{kind} needs the number of a claim"), kind=kind)
        raise UsageError(_("{kind} needs a scenario's name or file"), kind=kind)
    if kind == "gradient-claim":
        if not subject.isdecimal():
            raise UsageError(_("{name!r} is not a claim; give the number of one"), name=subject)
        return subject
    if subject.endswith(".py"):
        return str(find(str(folder / subject)))
    find(subject)
    return subject


def _check_engines(made: Directive) -> None:
    for name in made.engines:
        check_engine(name)
    wanted = {"gradient-graph": (1, 2), "gradient-diff": (2,)}.get(made.kind)
    if wanted and (len(made.engines) not in wanted or len(set(made.engines)) < len(made.engines)):
        text = _("{kind} needs {numbers} different engines, got {given}")
        numbers = listed(list(map(str, wanted)), "or")
        given = ", ".join(made.engines) or _("none")
        raise UsageError(text, kind=made.kind, numbers=numbers, given=given)


def _is_depth(text: str) -> None:
    if not text.isdecimal() and text not in ("all", "fit"):
        raise UsageError(_("depth must be a number, all or fit, got {value!r}"), value=text)


def _is_order(text: str) -> None:
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(_("order must be a positive integer, got {value!r}"), value=text)


def _is_width(text: str) -> None:
    number = text.rstrip("".join(UNITS))
    if not number.replace(".", "", 1).isdecimal() or text[len(number) :] not in UNITS:
        words = _("width must be a number with a unit ({units}) or without, got {value!r}")
        raise UsageError(words, units=", ".join(UNITS[:-1]), value=text)


def _is_folder(text: str) -> None:
    path = Path(text)
    if path.is_absolute() or ".." in path.parts or not FOLDER.fullmatch(text):
        words = _(
            "folder must be inside the document's folder, its name of letters, digits, . _ - and"
            " /, got {value!r}"
        )
        raise UsageError(words, value=text)


def _is_flag(text: str) -> None:
    choose("value of code", text, ("yes", "no"))


CHECKS: dict[str, Any] = {
    "view": lambda text: choose("view", text, VIEWS),
    "depth": _is_depth,
    "align": lambda text: choose("alignment", text, ALIGNMENTS),
    "width": _is_width,
    "cases": lambda text: choose("selection of cases", text, SELECTIONS),
    "order": _is_order,
    "code": _is_flag,
    "folder": _is_folder,
    "api": lambda text: choose("API", text, get_args(Api)),
    "verdict": lambda text: choose("verdict on a case", text, get_args(CaseVerdict)),
}
"""The options whose texts can be checked without running anything, with what raises UsageError."""
