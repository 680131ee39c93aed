"""The notebook of the documentation runs from top to bottom, and its pictures are seen in a browser."""

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.support.command_line import ROOT
from tests.support.servers import SWITCHES

NOTEBOOK = ROOT / "docs" / "notebooks" / "first_look.ipynb"

SEEN = "images => images.map(image => [image.naturalWidth, image.alt])"

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.browser, pytest.mark.whole]


def outputs(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What a reader sees under each cell, by MIME type."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    # (Not above: a run that leaves this out need not wait a second for them.)
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(len(cell.outputs) == 1 for cell in cells)
    return [cell.outputs[0]["data"] for cell in cells]


def test_every_cell_shows_what_it_is_about(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chromium: str
) -> None:
    explored, sentence, difference, graph, claim = outputs(monkeypatch)
    assert "all as expected" in explored["text/html"]
    assert "First divergence in backward" in sentence["text/plain"]
    assert "mindspore-tape" in difference["text/plain"]
    assert "PyTorch adds gradients up" in claim["text/html"]
    page_file = tmp_path / "page.html"
    shown = (explored, difference, graph, claim)
    page_file.write_text("<hr>".join(output["text/html"] for output in shown), encoding="utf-8")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(SWITCHES))
        page = browser.new_page()
        page.goto(page_file.as_uri())
        pictures = page.locator("img").evaluate_all(SEEN)
        panes = page.locator(".explorer-panes").first
        panes.locator('.pick[data-op="aten.mul.Tensor"]').first.click()
        expect(panes.locator("[data-card=right]")).to_contain_text("Mul")
        expect(panes.locator("img")).to_be_hidden()
        page.screenshot(path=tmp_path / "page.png", full_page=True)
        browser.close()
    assert len(pictures) == 3
    for width, alt in pictures:
        assert width > 400
        assert alt.startswith("Gradient graph of One tensor")
