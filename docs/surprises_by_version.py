"""What the programs of the surprises print on several versions of a framework.

Each version is put in front of this environment's own, beside the other framework as it is here: a program
needs both in one process, and most environments have one.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from explorer.environments.known import every
from explorer.model.claim import Tried, VersionsFact
from explorer.model.engines import FRAMEWORK_LABELS

FOLDER = Path(__file__).with_name("surprises")

PACKAGES = {"mindspore": ("mindspore",), "torch": ("torch", "torchgen", "functorch")}
"""The packages of a framework, which go by one version."""

ENDS = "What is printed here is read by the program that started this one: "
"""Behind this a line has what one program printed, as JSON."""

RUN = """
import contextlib, importlib, io, json, sys
_, ends, overlay, folder, *names = sys.argv
sys.path[:0] = [overlay, folder]
for name in names:
    with contextlib.redirect_stdout(io.StringIO()) as output:
        try:
            importlib.import_module(name).main()
        except Exception as error:
            print("raised:", type(error).__name__)
    print(ends + json.dumps([name, output.getvalue()]), flush=True)
"""
"""One process for many programs: importing both frameworks takes longer than most of them."""

SECONDS = 600


def facts(tried: Sequence[Tried]) -> Iterator[VersionsFact]:
    """What each line of each program says on each version, but for lines of the other framework."""
    printed = [_of_version(each) for each in tried]
    for name in _programs():
        labels = dict.fromkeys(label for one in printed for label in one.get(name, {}))
        for label in labels:
            values = [
                one.get(name, {}).get(label) if _is_of(label, each.framework) else None
                for each, one in zip(tried, printed, strict=True)
            ]
            yield VersionsFact(kind="surprise", at=name, of=label, values=tuple(values))


def _programs() -> list[str]:
    """The files that print; the others are scenarios."""
    files = sorted(FOLDER.glob("*.py"))
    return [path.stem for path in files if "def main()" in path.read_text(encoding="utf-8")]


def _is_of(label: str, framework: str) -> bool:
    """Whether a line may be one of a framework: it names no other."""
    return all(
        not label.startswith(other) for name, other in FRAMEWORK_LABELS.items() if name != framework
    )


def _of_version(tried: Tried) -> dict[str, dict[str, str]]:
    """What the programs print with a version, by program and the label of the line."""
    with tempfile.TemporaryDirectory() as folder:
        if tried.environment and not _laid_in_front(tried, Path(folder)):
            print(f"{tried.environment} has another Python than this one", file=sys.stderr)
            return {}
        return dict(_run(_programs(), folder))


def _laid_in_front(tried: Tried, folder: Path) -> bool:
    """Link the framework of an environment into a folder; False where its Python is another one."""
    facts = next(each for each in every() if each.environment.name == tried.environment)
    code = "import sys, sysconfig; print(sys.version_info[:2], sysconfig.get_path('purelib'), sep='\\n')"
    command = [str(facts.environment.python), "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    version, site = done.stdout.splitlines()
    if version != str(sys.version_info[:2]):
        return False
    for name in PACKAGES[tried.framework]:
        if (Path(site) / name).exists():
            (folder / name).symlink_to(Path(site) / name)
    return True


def _run(names: list[str], overlay: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Run programs; one that ends its process prints nothing, and the rest is run in another."""
    while names:
        printed = list(_run_once(names, overlay))
        yield from printed
        if len(printed) < len(names):
            print(f"{names[len(printed)]} ended its process", file=sys.stderr)
        names = names[len(printed) + 1 :]


def _run_once(names: Iterable[str], overlay: str) -> Iterator[tuple[str, dict[str, str]]]:
    command = [sys.executable, "-W", "ignore", "-c", RUN, ENDS, overlay, str(FOLDER), *names]
    quiet = {**os.environ, "GLOG_v": "4", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env=quiet,
            cwd=scratch,
            check=False,
        )
    for line in done.stdout.splitlines():
        if line.startswith(ENDS):
            name, text = json.loads(line.removeprefix(ENDS))
            yield name, _labelled(text)


def _labelled(text: str) -> dict[str, str]:
    lines = [line.partition(": ") for line in text.splitlines()]
    return {label: rest for label, _, rest in lines}
