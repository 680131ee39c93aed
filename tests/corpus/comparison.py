"""Recorded lines beside new ones: what rounding alone has changed stays as it was recorded."""

from collections.abc import Iterable
from difflib import SequenceMatcher, unified_diff

from tests.corpus.graphs import BETWEEN, VALUES
from tests.corpus.values import values_agree

Section = list[str]
"""A title and the lines under it, which begin with a space."""

BETWEEN_SECTIONS = "\n\n"


def text_of(sections: Iterable[Section]) -> str:
    """The text of a file."""
    return BETWEEN_SECTIONS.join("\n".join(section) for section in sections) + "\n"


def sections_of(text: str) -> list[Section]:
    """The sections of a file's text."""
    return [section.splitlines() for section in text.strip("\n").split(BETWEEN_SECTIONS)]


def settled(recorded: str, new: str) -> str:
    """A new text, with the recorded line wherever a line is the same up to rounding."""
    old_lines, new_lines = recorded.splitlines(), new.splitlines()
    old_forms = [_form(line) for line in old_lines]
    new_forms = [_form(line) for line in new_lines]
    matcher = SequenceMatcher(None, old_forms, new_forms, autojunk=False)
    for start, new_start, size in matcher.get_matching_blocks():
        for offset in range(size):
            old_line = old_lines[start + offset]
            if _lines_agree(old_line, new_lines[new_start + offset]):
                new_lines[new_start + offset] = old_line
    return "\n".join(new_lines) + "\n"


def difference(recorded: str, new: str, name: str) -> str:
    """The unified diff from a recorded text to a new one; empty where they say the same."""
    diff = unified_diff(
        recorded.splitlines(keepends=True),
        settled(recorded, new).splitlines(keepends=True),
        f"recorded/{name}",
        f"new/{name}",
        n=1,
    )
    return "".join(diff)


def _form(line: str) -> str:
    """A line without its values."""
    return line.partition(VALUES)[0]


def _lines_agree(recorded: str, new: str) -> bool:
    """Whether two lines of the same form have the same values up to rounding."""
    ones = recorded.partition(VALUES)[2].split(BETWEEN)
    others = new.partition(VALUES)[2].split(BETWEEN)
    return len(ones) == len(others) and all(map(values_agree, ones, others))
