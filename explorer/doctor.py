"""What this installation has and lacks: versions, devices, Graphviz, a browser, each with the way to get it."""

import importlib.metadata
import platform
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from explorer.engines import FRAMEWORKS
from explorer.graph import Edge, GradGraph, Node
from explorer.records import About
from explorer.report.clean import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from explorer.worker import Workers

REQUIREMENTS = Path(__file__).resolve().parent.parent / "requirements.txt"
PACKAGES = ("numpy", "streamlit", "graphviz", "pygraphviz", "typer", "rich", "msgspec")
"""What the explorer needs beside the frameworks, by the names that pip knows."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PYTHONS = ((3, 10), (3, 12))
"""The first and the last Python that both frameworks have wheels for (MindSpore 2.10.0, PyTorch 2.13.0)."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing looked at; ``remedy`` says how to get it where it is not fine. Without a required one nothing can be compared."""

    name: str
    fine: bool
    found: str
    remedy: str = ""
    required: bool = False


def examine(workers: "Workers", progress: Callable[[str, int, int], None]) -> list[Check]:
    """Look at everything; takes as long as importing both frameworks in their workers."""
    from explorer.explore import about

    progress("doctor", 0, 3)
    told = about(workers)
    progress("doctor", 1, 3)
    frameworks = [_framework(name, told[name]) for name in FRAMEWORKS]
    packages = [_package(name) for name in PACKAGES]
    progress("doctor", 2, 3)
    return [_python(), *frameworks, *packages, _layout(), _browser()]


def remedy(package: str) -> str:
    """The pip line that installs ``package`` at the version pinned in requirements.txt."""
    return f'{_pip()} install "{pins().get(package, package)}"'


def pins() -> dict[str, str]:
    """The lines of requirements.txt, by the package that each begins with."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines() if REQUIREMENTS.is_file() else []
    stripped = [line.partition("#")[0].strip() for line in lines]
    return {re.split(r"[^A-Za-z0-9_.-]", line)[0]: line for line in stripped if line and not line.startswith("-")}


def _pip() -> str:
    return "python -m pip"


def _python() -> Check:
    version, first, last = platform.python_version(), *(".".join(map(str, each)) for each in PYTHONS)
    fine = PYTHONS[0] <= tuple(map(int, version.split(".")[:2])) <= PYTHONS[1]
    return Check(name="python", fine=fine, found=version, remedy="" if fine else f"use Python {first} to {last}")


def _framework(name: str, told: Any) -> Check:
    if isinstance(told, About):
        version = told.versions.get(name, "")
        return Check(name=name, fine=True, found=f"{version} on {', '.join(told.devices)}", required=True)
    return Check(name=name, fine=False, found=one_line(told.message), remedy=remedy(name), required=True)


def _package(name: str) -> Check:
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return Check(name=name, fine=False, found="not installed", remedy=remedy(name))
    if name == "numpy" and version.partition(".")[0] != "1":
        return Check(name=name, fine=False, found=f"{version}, with which MindSpore's first pow dies", remedy=remedy("numpy"))
    return Check(name=name, fine=True, found=version)


def _layout() -> Check:
    """Draws a graph of two nodes, and sees whether Graphviz placed them."""
    from explorer.drawing import draw

    nodes = (Node(id="n0", op="x", kind="input", phase="forward"), Node(id="n1", op="Mul", kind="op", phase="forward", order=1))
    graph = GradGraph(engine="torch-tape", case="", stage="tape", nodes=nodes, edges=(Edge("n0", "n1"),))
    try:
        picture = draw(graph, format="svg")
    except Exception as error:
        return Check(name="layout", fine=False, found=one_line(f"{type(error).__name__}: {error}"), remedy=remedy("pygraphviz"))
    return Check(name="layout", fine=b"<svg" in picture, found="draws", remedy="")


def _browser() -> Check:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    found = f"{'present' if path else 'not found'} (only the tests of the app's pages need it)"
    return Check(name="chromium", fine=bool(path), found=found, remedy="" if path else "apt-get install chromium")


def document(checks: Sequence[Check]) -> dict[str, Any]:
    """The checks as plain data."""
    return {"checks": [msgspec.to_builtins(check) for check in checks]}


def show(checks: Sequence[Check], console: "Console") -> None:
    """Print the checks, and after them what to do about each that is not fine."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for check in checks:
        mark = Text("ok", style="green") if check.fine else Text("missing", style="bold red" if check.required else "yellow")
        table.add_row(Text(check.name), mark, Text(check.found))
    console.print(table)
    for check in checks:
        if check.remedy:
            console.print(Text(f"{check.name}: {check.remedy}"), soft_wrap=True)
