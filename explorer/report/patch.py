"""A patch as a unified diff, with what it mends and what was seen with it in comments ahead of it."""

import difflib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from explorer.model.patch import Patch
from explorer.text.clean import clean
from explorer.words.causes import sentence
from explorer.words.patches import proof_text

WITHOUT_END = b"\\ No newline at end of file".decode()
"""What stands in a unified diff behind a last line that does not end, in every language."""


def patch_lines(patch: Patch, engines: tuple[str, str]) -> Iterator[str]:
    """A patch as ``git apply`` and ``patch -p1`` take it: comments first, then the diff."""
    for found in dict.fromkeys(sentence(it, engines) for it in patch.causes):
        yield f"# {clean(found)}"
    yield f"# {proof_text(patch.proof)}"
    yield from unified(patch)


def unified(patch: Patch) -> Iterator[str]:
    """The lines of the diff, without their ends: a carriage return is part of a line."""
    name = _relative(Path(patch.file))
    before, after = _lines(patch.before), _lines(patch.after)
    for line in difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm="\n"):
        yield line.removesuffix("\n")
        if not line.endswith("\n"):
            yield WITHOUT_END


def _lines(text: str) -> list[str]:
    """The lines of a text as ``patch`` counts them: a line feed alone ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+$", text)


def _relative(path: Path) -> str:
    """A path as seen from the current folder, or the name of a file elsewhere."""
    try:
        return path.resolve().relative_to(Path(os.getcwd()).resolve()).as_posix()
    except ValueError:
        return path.name
