"""The documentation is true: its links lead somewhere, its paths exist, its scenario runs."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import jsonschema
import pytest
from playwright.sync_api import expect

from explorer.blocks.markdown import escape
from explorer.exploration.explore import explore
from explorer.report.schemas import DOCUMENTS, schema
from explorer.scenario.find import names
from explorer.scenario.load import load
from explorer.topics import claims as every_claim
from explorer.workers.workers import Workers
from tests.support.browsers import watched
from tests.support.command_line import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
PAGE_NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]

LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")
"""The target of a link to a file."""

FENCED = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
"""A block of code, in which nothing is a link."""

MADE = {
    ROOT / "docs" / name
    for name in (
        "gallery/index.md",
        "reference/commands.md",
        "reference/studies.md",
        "reference/tolerances.md",
        "reference/schemas.md",
    )
}
"""Pages that are made when the site is built."""

CODE_PATH = re.compile(r"`((?:explorer|tests|docs|scenarios|benchmarks)/[\w./-]+)`")
"""A path of the repository in the text, as far as it is no pattern: capitals stand for any name."""


@pytest.mark.parametrize("page", PAGES, ids=PAGE_NAMES)
def test_every_link_leads_to_a_file_and_every_path_that_is_named_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = [(page.parent / target).resolve() for target in LINK.findall(FENCED.sub("", text))]
    assert [str(path) for path in targets if not path.exists() and path not in MADE] == []
    concrete = [path for path in CODE_PATH.findall(text) if not re.search(r"[A-Z]{3}", path)]
    assert [path for path in concrete if not (ROOT / path).exists()] == []


def test_every_module_that_the_architecture_names_exists() -> None:
    # It names them from explorer/ on; an asterisk or a word in capitals stands for several.
    named = re.findall(
        r"`([\w/*]+\.(?:py|js))`", (ROOT / "docs/architecture.md").read_text("utf-8")
    )
    assert "compare/results/verdicts.py" in named
    missing = []
    for name in named:
        pattern = re.sub(r"[A-Z]{3,}", "*", name)
        if not any((ROOT / "explorer").rglob(pattern)) and not (ROOT / name).exists():
            missing.append(name)
    assert missing == []


SECTIONS = {
    "index.md": ["Tutorial", "How-to", "Explanation", "Reference"],
    "zh/index.md": ["教程", "操作指南", "原理", "参考"],
}
"""The four kinds of page (diataxis.fr), as the first page of each language has them."""


@pytest.mark.parametrize("page", SECTIONS)
def test_the_first_page_has_the_four_kinds_of_page(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == SECTIONS[page]


@pytest.mark.parametrize("page", SECTIONS)
def test_the_first_page_links_every_page_of_the_menu(page: str) -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    menu = menu.partition("\nnot_in_nav:")[0]
    is_chinese = page.startswith("zh/")
    named = {name for name in re.findall(r"\S+\.md", menu) if name.startswith("zh/") == is_chinese}
    index = ROOT / "docs" / page
    linked = [(index.parent / link).resolve() for link in LINK.findall(index.read_text("utf-8"))]
    assert len(linked) == len(set(linked))
    assert {ROOT / "docs" / name for name in named} - {index} <= set(linked)


def test_links_and_paths_are_found_at_all() -> None:
    architecture = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert "images/architecture.svg" in LINK.findall(architecture)
    assert "tests/test_layout.py" in CODE_PATH.findall(architecture)


@pytest.mark.whole
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


class Page(HTMLParser):
    """The places of a page that can be linked, what it links, and the pictures in it."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.pictures = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element names, and where it leads."""
        attributes = dict(attrs)
        self.anchors.add(attributes.get("id") or "")
        self.pictures += tag in ("svg", "img")
        for name in ("href", "src"):
            if attributes.get(name):
                self.links.append(attributes[name] or "")


def read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def lead_nowhere(site: Path) -> Iterator[str]:
    """The links of a built site to pages, files or places that there are not."""
    pages = {path.resolve(): read(path) for path in site.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            is_there = target.exists() and (
                target not in pages or unquote(parts.fragment) in pages[target].anchors
            )
            if not is_there:
                yield f"{path.relative_to(site.resolve())}: {link}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation, built with warnings as errors."""
    folder = tmp_path_factory.mktemp("site")
    built = build(ROOT, folder)
    assert built.returncode == 0, built.stderr
    return folder


def build(project: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a project into a folder, as `make docs` does."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (words,) = re.findall(r"\$\(PY\) -m (mkdocs build .*) --site-dir", makefile)
    command = [sys.executable, "-m", *words.split(), "--site-dir", str(folder)]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)


@pytest.mark.whole
@pytest.mark.parametrize(("link", "is_built"), [("other.md", True), ("nowhere.md", False)])
def test_a_warning_ends_the_build_of_the_documentation(
    tmp_path: Path, link: str, is_built: bool
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("site_name: Small\n")
    (tmp_path / "docs" / "other.md").write_text("# Other\n")
    (tmp_path / "docs" / "index.md").write_text(f"# Small\n\n[a link]({link})\n")
    assert (build(tmp_path, tmp_path / "site").returncode == 0) is is_built


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
def test_the_site_is_built_without_a_warning_and_every_link_leads_somewhere(site: Path) -> None:
    assert list(lead_nowhere(site)) == []
    scenarios = names()
    for name in scenarios:
        assert read(site / "gallery" / f"{name}.html").pictures >= 2, name
    index = read(site / "gallery" / "index.html")
    assert index.pictures >= len(scenarios)
    assert "explore" in (site / "reference" / "api.html").read_text(encoding="utf-8")


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.browser
def test_its_pages_ask_for_nothing_that_is_elsewhere_or_nowhere_and_can_be_read_in_the_dark(
    site: Path, chromium: str
) -> None:
    # What a page asks of its server by script stands in no link.
    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        answers: list[tuple[int, str]] = []
        with watched(chromium, address, theme="dark") as browser:
            browser.page.on("response", lambda answer: answers.append((answer.status, answer.url)))
            for name in ("index.html", "zh/tutorial.html", "claims/1.html", "tutorial.html"):
                browser.page.goto(address + name, wait_until="networkidle")
            picture = browser.page.locator("article svg[role=img]").first
            expect(picture).to_be_visible()
            text, paper = (
                picture.locator(selector).first.evaluate("part => getComputedStyle(part).fill")
                for selector in ("text.t", ".paper")
            )
            browser.assert_unharmed()
        server.shutdown()
    assert brightness(text) - brightness(paper) > 300
    assert len(answers) > 10
    assert [url for status, url in answers if status >= 400] == []


def brightness(colour: str) -> int:
    """The sum of red, green and blue of a computed colour."""
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3])


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="b.html#there">b</a> <a href="c.html">c</a>'
    )
    (tmp_path / "b.html").write_text('<a href="a.html#here">a</a>')
    assert list(lead_nowhere(tmp_path)) == ["a.html: b.html#there", "a.html: c.html"]


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_each_kind_of_document_has_a_schema(kind: str) -> None:
    made = schema(kind)
    jsonschema.Draft202012Validator.check_schema(made)
    assert made["$id"] == f"urn:autodiff-explorer:{kind}:1"


@pytest.mark.slow
def test_every_claim_has_a_page_that_states_it() -> None:
    folder = ROOT / "docs" / "claims"
    index = (folder / "index.md").read_text(encoding="utf-8")
    for number, claim in every_claim().items():
        page = (folder / f"{number}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {number}. {escape(claim.statement)}\n"), "run `make claims`"
        assert f"[{number}]({number}.md)" in index
        # Its programs are Python, and no function stands there twice.
        programs = re.findall(r"^(`{3,})python\n(.*?)^\1$", page, re.DOTALL | re.MULTILINE)
        assert programs
        nodes = [node for _, program in programs for node in ast.parse(program).body]
        definitions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
        functions = list(map(ast.unparse, definitions))
        assert len(functions) == len(set(functions)), number
    assert len(list(folder.glob("*.md"))) == len(every_claim()) + 1


def test_every_object_that_the_reference_describes_is_there() -> None:
    text = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    names = re.findall(r"^::: (\S+)$", text, flags=re.MULTILINE)
    assert len(names) > 10
    for name in names:
        module, _, described = name.rpartition(".")
        assert hasattr(importlib.import_module(module), described), name
