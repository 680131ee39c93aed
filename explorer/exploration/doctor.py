"""What this installation has and lacks: versions, devices, Graphviz, a browser, each with the way
to get it.
"""

import importlib.metadata
import platform
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from explorer.model.engines import FRAMEWORKS
from explorer.model.results import About
from explorer.text.messages import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from explorer.workers.workers import Workers

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements.txt"
PIN = re.compile(
    r'^(?P<pin>(?P<name>[\w.-]+)==[\w.]+)(?:; python_version (?P<sign>>=|<) "(?P<version>[\d.]+)")?',
    re.MULTILINE,
)
"""A line of requirements.txt, and the versions of Python that it is for; a test sees that every
line reads like this.
"""

PACKAGES = ("numpy", "streamlit", "graphviz", "pygraphviz", "typer", "rich", "msgspec")
"""What the explorer needs beside the frameworks, by the names that pip knows."""

LAYOUT_SECONDS = 10.0
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PYTHONS = ((3, 10), (3, 12))
"""The first and the last Python that both frameworks have wheels for (MindSpore 2.10.0, PyTorch
2.13.0).
"""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing looked at; ``remedy`` says how to get it where it is not fine. Without a required
    one nothing can be compared.
    """

    name: str
    fine: bool
    found: str
    remedy: str = ""
    required: bool = False


def examine(workers: "Workers", progress: Callable[[str, int, int], None]) -> list[Check]:
    """Look at everything; takes as long as importing both frameworks in their workers."""
    from explorer.exploration.about import about

    progress("doctor", 0, 3)
    told = about(workers)
    progress("doctor", 1, 3)
    frameworks = [_framework(name, told[name]) for name in FRAMEWORKS]
    packages = [_package(name) for name in PACKAGES]
    progress("doctor", 2, 3)
    return [_python(), *frameworks, *packages, _layout(), _browser()]


def remedy(package: str) -> str:
    """The pip line that installs ``package`` at the version pinned in requirements.txt."""
    return f'python -m pip install "{pins().get(package, package)}"'


def pins(python: tuple[int, ...] = sys.version_info[:2]) -> dict[str, str]:
    """What requirements.txt pins for a version of Python: "mindspore" gives "mindspore==2.10.0"."""
    found = PIN.finditer(REQUIREMENTS.read_text(encoding="utf-8")) if REQUIREMENTS.is_file() else ()
    return {
        each["name"]: each["pin"] for each in found if _holds(each["sign"], each["version"], python)
    }


def _holds(sign: str | None, version: str | None, python: tuple[int, ...]) -> bool:
    if sign is None or version is None:
        return True
    bound = tuple(map(int, version.split(".")))
    return python >= bound if sign == ">=" else python < bound


def _python() -> Check:
    version, first, last = (
        platform.python_version(),
        *(".".join(map(str, each)) for each in PYTHONS),
    )
    fine = PYTHONS[0] <= tuple(map(int, version.split(".")[:2])) <= PYTHONS[1]
    return Check(
        name="python",
        fine=fine,
        found=version,
        remedy="" if fine else f"use Python {first} to {last}",
    )


def _framework(name: str, told: Any) -> Check:
    if isinstance(told, About):
        version = told.versions.get(name, "")
        return Check(
            name=name, fine=True, found=f"{version} on {', '.join(told.devices)}", required=True
        )
    return Check(
        name=name, fine=False, found=one_line(told.message), remedy=remedy(name), required=True
    )


def _package(name: str) -> Check:
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return Check(name=name, fine=False, found="not installed", remedy=remedy(name))
    if name == "numpy" and version.partition(".")[0] != "1":
        return Check(
            name=name,
            fine=False,
            found=f"{version}, with which MindSpore's first pow dies",
            remedy=remedy("numpy"),
        )
    return Check(name=name, fine=True, found=version)


def _layout() -> Check:
    """Lets Graphviz place two nodes, as for any picture; what stands in for it is not fine."""
    from explorer.drawing.layout import Request, arrange

    sizes = {"n0": (60.0, 30.0), "n1": (60.0, 30.0)}
    instead = arrange(Request(sizes=sizes, edges=[("n0", "n1")]), LAYOUT_SECONDS).instead
    return Check(
        name="layout",
        fine=not instead,
        found=instead or "Graphviz places nodes",
        remedy=remedy("pygraphviz") if instead else "",
    )


def _browser() -> Check:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    found = f"{'present' if path else 'not found'} (only the tests of the app's pages need it)"
    return Check(
        name="chromium",
        fine=bool(path),
        found=found,
        remedy="" if path else "apt-get install chromium",
    )


def document(checks: Sequence[Check]) -> dict[str, Any]:
    """The checks as plain data."""
    return {"checks": [msgspec.to_builtins(check) for check in checks]}


def show(checks: Sequence[Check], console: "Console") -> None:
    """Print the checks, and after them what to do about each that is not fine."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for check in checks:
        mark = (
            Text("ok", style="green")
            if check.fine
            else Text("missing", style="bold red" if check.required else "yellow")
        )
        table.add_row(Text(check.name), mark, Text(check.found))
    console.print(table)
    for check in checks:
        if check.remedy:
            console.print(Text(f"{check.name}: {check.remedy}"), soft_wrap=True)
