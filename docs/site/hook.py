"""The hook of MkDocs: pages that are made from the explorer itself, and blocks that run it.

`make docs` builds the site. What was measured before is in the store, and is not measured again.
"""

import shutil
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from docs.site import gallery, reference
from explorer.mkdocs import ExplorerPlugin

_blocks = ExplorerPlugin()


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made."""
    for path, content in (*gallery.pages(), *reference.pages()):
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **others: Any) -> str:
    """Make the blocks of a page."""
    return _blocks.on_page_markdown(markdown, page=page, **others)


def on_page_content(html: str, page: Any, **others: Any) -> str:
    """Set them."""
    return _blocks.on_page_content(html, page=page, **others)


def on_post_build(config: Any) -> None:
    """Put the map of the site where Material's switch of languages asks for it, for each language."""
    site = Path(config.site_dir)
    for alternate in config.extra["alternate"]:
        folder = (site / alternate["link"]).parent
        if folder != site:
            shutil.copy(site / "sitemap.xml", folder)
