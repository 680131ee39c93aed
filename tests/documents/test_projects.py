"""A sample project of Sphinx and one of MkDocs, built by the real tools and looked at in a browser."""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.folders import STORE
from tests.support.command_line import ROOT, ran
from tests.support.servers import SWITCHES

HERE = Path(__file__).parent
SPHINX, MKDOCS = HERE / "sphinx_sample", HERE / "mkdocs_sample"

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]

ENTRY = """\
[mkdocs.plugins]
explorer = explorer.mkdocs:ExplorerPlugin
"""
"""What pip writes of the plugin where the explorer is installed."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of processes that find the explorer as an installed one, and share a store."""
    place = tmp_path_factory.mktemp("entries")
    info = place / "entries-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: entries\nVersion: 0\n")
    (info / "entry_points.txt").write_text(ENTRY)
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(place)]),
        STORE: str(tmp_path_factory.getbasetemp() / "store"),
        "NO_MKDOCS_2_WARNING": "1",
    }


def build(arguments: list[str], environment: dict[str, str], folder: Path) -> str:
    """Run a tool to its end; what it says of what is wrong."""
    return ran(sys.executable, "-m", *arguments, cwd=folder, env=environment).stderr


@pytest.fixture(scope="module")
def sphinx(
    tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]
) -> tuple[Path, str]:
    """The folder of a project built in three formats, and the warnings of the first."""
    folder = tmp_path_factory.mktemp("sphinx")
    source = shutil.copytree(SPHINX, folder / "source")
    # With two processes: reading in parallel is promised.
    warnings = build(
        ["sphinx", "-q", "--no-color", "-j", "2", "-b", "html", str(source), "html"],
        environment,
        folder,
    )
    for builder in ("text", "latex"):
        build(
            ["sphinx", "-q", "--no-color", "-b", builder, str(source), builder], environment, folder
        )
    return folder, warnings


@pytest.fixture(scope="module")
def mkdocs(
    tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]
) -> tuple[Path, str]:
    """The folder of a built site, and its warnings."""
    folder = tmp_path_factory.mktemp("mkdocs")
    source = shutil.copytree(MKDOCS, folder / "source")
    warnings = build(
        ["mkdocs", "build", "-f", str(source / "mkdocs.yml"), "-d", str(folder / "site")],
        environment,
        folder,
    )
    return folder / "site", warnings


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without a page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = shutil.which("chromium")
        started = driver.chromium.launch(executable_path=chromium, args=list(SWITCHES))
        yield started
        started.close()


def test_what_is_wrong_is_told_with_file_and_line_and_the_build_goes_on(
    sphinx: tuple[Path, str],
) -> None:
    folder, warnings = sphinx
    lines = (folder / "source" / "wrong.rst").read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith(".. gradient"):
            told = re.search(rf"wrong\.rst:{number}: (.*)", warnings)
            assert told, (number, warnings)
            assert told[1].startswith("WARNING"), warnings
            assert told[1].endswith("[explorer]"), warnings
    for word in (
        "aliased_input",
        "torch-tape",
        "engins",
        "this net always fails",
        "1 to 94",
        "needs a scenario's name or file",
    ):
        assert word in warnings
    assert "The build went on." in (folder / "html" / "wrong.html").read_text()
    assert "index.rst" not in warnings
    assert "myst.md" not in warnings


def test_a_page_of_html_has_the_graphs_the_table_and_the_claim(sphinx: tuple[Path, str]) -> None:
    page = (sphinx[0] / "html" / "index.html").read_text()
    assert page.count("<svg") == 5  # two graphs, one, two
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert 'aria-label="The tape of a sum of cubes"' in page
    assert "Both tapes sum; both graphs keep the two apart." in page
    assert "What grad gives" in page
    assert "PyTorch adds gradients up" in page
    assert "<svg" in (sphinx[0] / "html" / "myst.html").read_text()


def test_text_has_words_for_pictures_and_latex_files(sphinx: tuple[Path, str]) -> None:
    text = (sphinx[0] / "text" / "index.txt").read_text()
    assert "[The tape of a sum of cubes]" in text
    assert "First divergence in backward" in text
    latex = (sphinx[0] / "latex" / "sample.tex").read_text()
    pictures = re.findall(r"\\includegraphics\[[^]]*\]\{([^}]+\.png)\}", latex)
    assert len(pictures) == 4
    for name in pictures:
        assert (sphinx[0] / "latex" / name).read_bytes().startswith(b"\x89PNG")


def test_a_site_of_mkdocs_has_the_same(mkdocs: tuple[Path, str]) -> None:
    site, warnings = mkdocs
    page = (site / "index.html").read_text()
    assert page.count("<svg ") >= 4
    assert "explorer-block" not in page
    assert "PyTorch adds gradients up" in page
    # What is inside another fence is shown.
    assert "gradient-graph\ndense_mse" in re.sub(r"<[^>]+>", "", page)
    assert "wrong.md:3" in warnings
    assert "wrong.md:7" in warnings
    assert "engins" in warnings
    assert "The build went on." in (site / "wrong" / "index.html").read_text()


def boxes(page: Any) -> list[dict[str, float]]:
    drawings = page.locator("figure.gradient-figure svg")
    return [drawings.nth(place).bounding_box() for place in range(drawings.count())]


def paper(page: Any) -> str:
    """The colour of the first drawing's paper."""
    rule = "e => getComputedStyle(e).fill"
    return str(page.locator("figure.gradient-figure svg rect.paper").first.evaluate(rule))


LIGHT, DARK = "rgb(255, 255, 255)", "rgb(18, 23, 29)"


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1400])
def test_in_a_browser_pictures_are_there_and_none_is_wider_than_the_page(
    sphinx: tuple[Path, str], mkdocs: tuple[Path, str], browser: Any, width: int
) -> None:
    for file in (sphinx[0] / "html" / "index.html", mkdocs[0] / "index.html"):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(file.as_uri())
        found = boxes(page)
        assert len(found) >= 4
        for box in found:
            assert box["width"] > 150
            assert box["x"] + box["width"] <= width
        page.close()


@pytest.mark.browser
def test_drawings_are_dark_where_the_reader_or_the_page_is(
    sphinx: tuple[Path, str], mkdocs: tuple[Path, str], browser: Any
) -> None:
    for scheme, colour in (("light", LIGHT), ("dark", DARK)):
        page = browser.new_page(color_scheme=scheme)
        for file in (sphinx[0] / "html" / "index.html", mkdocs[0] / "index.html"):
            page.goto(file.as_uri())
            assert paper(page) == colour
        page.close()
    # Material's own switch counts, whatever the reader's system prefers.
    page = browser.new_page(color_scheme="light")
    page.goto((mkdocs[0] / "index.html").as_uri())
    page.locator("label[for^=__palette]:visible").first.click()
    assert paper(page) == DARK
    page.close()
