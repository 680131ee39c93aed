"""The MkDocs plugin: fenced blocks that begin with a kind become graphs, tables, claims, differences.

A block names its subject in its first line, and an option a line after it: ``NAME: VALUE``.
"""

import logging
from pathlib import Path
from typing import Any

from mkdocs.plugins import BasePlugin

from explorer.blocks.html import html
from explorer.documents.contents import Way, contents
from explorer.documents.directives import KINDS, Fence, directive, fences
from explorer.model.errors import ExplorerError, UsageError, WorkerFaultError

# Under this name MkDocs counts warnings, and --strict fails for them.
log = logging.getLogger("mkdocs.plugins.explorer")


class ExplorerPlugin(BasePlugin):  # type: ignore[misc]  # its types are skipped
    """Sets blocks: first a mark in the Markdown, then the content in place of the mark in the page."""

    def __init__(self) -> None:
        self._pages: dict[str, dict[str, str]] = {}

    def on_page_markdown(self, markdown: str, *, page: Any, config: Any, **_: Any) -> str:
        """The text of a page, in which each block is a mark that Markdown leaves alone."""
        made: dict[str, str] = {}
        self._pages[page.file.src_uri] = made
        # A page that another plugin makes has no file of its own.
        folder = Path(config["docs_dir"], page.file.src_uri).parent

        position = 0
        texts = []
        for fence in fences(markdown):
            if fence.info not in KINDS:
                continue
            texts.append(markdown[position : fence.start])
            position = fence.end
            mark = f"explorer-block-{len(made)}"
            try:
                made[mark] = _made(fence, folder, f"gradient{len(made)}-")
            except (ExplorerError, WorkerFaultError) as error:
                message = str(error).strip().splitlines()[-1]
                log.warning("%s:%d: %s", page.file.src_uri, fence.line, message)
                continue
            texts.append(f'<div id="{mark}"></div>')
        return "".join([*texts, markdown[position:]])

    def on_page_content(self, html: str, *, page: Any, **_: Any) -> str:
        """The page with the blocks in the places of their marks."""
        for mark, content in self._pages.pop(page.file.src_uri, {}).items():
            html = html.replace(f'<div id="{mark}"></div>', content)
        return html


def _made(fence: Fence, folder: Path, prefix: str) -> str:
    lines = [line.strip() for line in fence.content.splitlines() if line.strip()]
    subject, *rest = lines or [""]
    options = {}
    for line in rest:
        name, colon, value = line.partition(":")
        if not colon:
            raise UsageError(f"{line!r} is not an option; write NAME: VALUE")
        options[name.strip()] = value.strip()
    asked = directive(fence.info, subject, options, folder)
    return html(contents(asked, Way(prefix=prefix, each=True)))
