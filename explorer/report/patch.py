"""A patch as a unified diff, with what it mends and what was seen with it in comments ahead of it."""

import difflib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from explorer.model.patch import Patch
from explorer.model.report import Report
from explorer.report.diff import do_differ
from explorer.text.clean import clean
from explorer.words.causes import sentence
from explorer.words.headlines import headline
from explorer.words.patches import proof_text, without_patch

WITHOUT_END = b"\\ No newline at end of file".decode()
"""What stands in a unified diff behind a last line that does not end, in every language."""


def mend_lines(report: Report, patch: Patch | None, engines: tuple[str, str]) -> Iterator[str]:
    """A patch; or that nothing is to be mended, or that none was found."""
    if patch:
        yield from patch_lines(patch, engines)
    else:
        yield from without_patch(headline(report.cases[0]), is_same=not do_differ(report))


def patch_lines(patch: Patch, engines: tuple[str, str]) -> Iterator[str]:
    """A patch as ``git apply`` and ``patch -p1`` take it: comments first, then the diff."""
    for found in dict.fromkeys(sentence(it, engines) for it in patch.causes):
        yield f"# {clean(found)}"
    yield f"# {proof_text(patch.proof)}"
    yield from unified(patch)


def unified(patch: Patch) -> Iterator[str]:
    """The lines of the diff, without their ends: a carriage return is part of a line."""
    for mended in patch.files:
        name = _relative(Path(mended.file))
        before, after = _lines(mended.before), _lines(mended.after)
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
