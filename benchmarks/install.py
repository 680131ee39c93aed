"""How large the explorer is once it is installed, how long pip takes, and how soon it shows something.

Builds the wheel, and installs it into fresh environments beside this one: alone, and with the app.
Neither has a framework, so that what is shown is what was recorded. pip takes its packages from
where it is set to, and its cache may have them: the seconds are those of this machine.
"""

import os
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks._figures import Figure
from benchmarks._presenting import detail, parser, present
from benchmarks._records import ROOT

MEGABYTE = 10**6

LIGHT_MB = 200.0
LIGHT_SECONDS = 60.0
"""The limits of the install without the app."""

SHOWN_SECONDS = 2.0
"""The limit of the first page, its pictures included, from the request on."""

HEAVIEST = 6
"""The number of folders that are named with their sizes."""

FRAMEWORKS = ("mindspore", "torch", "tensorflow", "jax")

PAGE = """
import time
from streamlit.testing.v1 import AppTest
from explorer.web import ENTRY

start = time.perf_counter()
app = AppTest.from_file(str(ENTRY), default_timeout=120).run()
assert not app.exception, app.exception
first = time.perf_counter() - start
start = time.perf_counter()
app.run()
print(first, time.perf_counter() - start)
"""
"""Makes the first page twice: with all that is imported and read for it, and without."""


def measure() -> Iterator[Figure]:
    """Sizes and seconds of both installs."""
    with tempfile.TemporaryDirectory(prefix="explorer-install-") as folder:
        place = Path(folder)
        wheel = built(place)
        yield Figure(name="the wheel", unit="MB", basis="size", rounds=(size(wheel),))
        light = Environment(place / "light")
        seconds = light.install(str(wheel))
        yield from light.figures("light install", seconds, LIGHT_MB, LIGHT_SECONDS)
        yield light.shown("scenario", "dense_mse")
        yield light.shown("claims")
        app = Environment(place / "app")
        yield from app.figures("install with the app", app.install(f"{wheel}[app]"), None, None)
        first, again = app.page_seconds()
        yield Figure(name="first page, just imported", unit="s", basis="wall", rounds=(first,))
        yield Figure(
            name="first page, served before",
            unit="s",
            basis="wall",
            rounds=(again,),
            bar=SHOWN_SECONDS,
        )


def built(folder: Path) -> Path:
    """The wheel of this checkout."""
    command = ["pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run([sys.executable, "-m", *command], check=True, stdout=sys.stderr)
    (wheel,) = folder.glob("*.whl")
    return wheel


def size(path: Path) -> float:
    """The megabytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) / MEGABYTE


class Environment:
    """A fresh environment, without what this one has."""

    def __init__(self, home: Path) -> None:
        venv.create(home, with_pip=True)
        self.programs = home / ("Scripts" if os.name == "nt" else "bin")
        (self.packages,) = home.rglob("site-packages")
        # pip is of the environment and not of the explorer.
        self._own = size(self.packages)
        self._variables = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "EXPLORER_STORE": str(home / "store"),
        }

    def install(self, requirement: str) -> float:
        """Install with pip; the seconds that it takes."""
        start = time.perf_counter()
        self._run("-m", "pip", "install", "--quiet", requirement)
        return time.perf_counter() - start

    def _run(self, *arguments: str) -> str:
        command = [str(self.programs / "python"), *arguments]
        done = subprocess.run(
            command, env=self._variables, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments[:3])} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def figures(
        self, name: str, seconds: float, most_mb: float | None, most_seconds: float | None
    ) -> Iterator[Figure]:
        """The size and the seconds of an install, and the frameworks that came along."""
        megabytes = size(self.packages) - self._own
        detail(f"{name}, MB: {self.heaviest()}")
        yield Figure(name=name, unit="MB", basis="size", rounds=(megabytes,), bar=most_mb)
        yield Figure(
            name=f"{name}: pip", unit="s", basis="wall", rounds=(seconds,), bar=most_seconds
        )
        found = [package for package in FRAMEWORKS if (self.packages / package).exists()]
        yield Figure(
            name=f"{name}: frameworks",
            unit="",
            basis="count",
            rounds=(float(len(found)),),
            bar=0.0,
        )

    def heaviest(self) -> str:
        """The folders that weigh most, with their sizes."""
        sizes: Counter[str] = Counter()
        for path in self.packages.iterdir():
            sizes[path.name] = round(size(path))
        return ", ".join(f"{name} {weight}" for name, weight in sizes.most_common(HEAVIEST))

    def shown(self, *command: str) -> Figure:
        """The seconds of a command that shows what was recorded."""
        start = time.perf_counter()
        self._run("-m", "explorer", *command)
        seconds = time.perf_counter() - start
        name = f"explorer {' '.join(command)}, recorded"
        return Figure(name=name, unit="s", basis="wall", rounds=(seconds,))

    def page_seconds(self) -> tuple[float, float]:
        """The seconds of the app's first page, the first time and the second."""
        first, again = self._run("-c", PAGE).split()
        return float(first), float(again)


if __name__ == "__main__":
    sys.exit(present(measure(), parser(__doc__).parse_args().figures))
