"""The documentation is true: its links lead somewhere, its paths exist, its scenario runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.exploration.explore import explore
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.command_line import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
PAGE_NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]

LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")
"""The target of a link to a file."""

CODE_PATH = re.compile(r"`((?:explorer|tests|docs|scenarios|benchmarks)/[\w./-]+)`")
"""A path of the repository in the text, as far as it is no pattern: capitals stand for any name."""


@pytest.mark.parametrize("page", PAGES, ids=PAGE_NAMES)
def test_every_link_leads_to_a_file(page: Path) -> None:
    broken = [
        target
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=PAGE_NAMES)
def test_every_path_that_is_named_exists(page: Path) -> None:
    named = CODE_PATH.findall(page.read_text(encoding="utf-8"))
    concrete = [path for path in named if not re.search(r"[A-Z]{3}", path)]
    assert [path for path in concrete if not (ROOT / path).exists()] == []


def test_links_and_paths_are_found_at_all() -> None:
    architecture = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert "images/architecture.svg" in LINK.findall(architecture)
    assert "tests/test_layout.py" in CODE_PATH.findall(architecture)


@pytest.mark.mindspore
@pytest.mark.torch
def test_the_scenario_of_the_how_to_runs_without_a_surprise(
    tmp_path: Path, workers: Workers
) -> None:
    how_to = (ROOT / "docs" / "how-to" / "scenario.md").read_text(encoding="utf-8")
    (tmp_path / "line.py").write_text(re.findall(r"```python\n(\"\"\".*?)```", how_to, re.S)[0])
    report = explore(load(tmp_path / "line.py"), workers, selection="structure")
    assert report.title == "A line through two points"
    assert all(case.expected for case in report.cases)
    matching = [case for case in report.cases if case.verdict == "match"]
    assert matching
    assert all(case.oracle_agrees for case in matching)


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    built = subprocess.run(
        [*command, "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "site" / "index.html").is_file()
    assert (tmp_path / "site" / "images" / "architecture.svg").is_file()
