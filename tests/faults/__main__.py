"""``python -m tests.faults [--only NAME …]`` plants each fault in a copy, and runs what must notice.

The exit code is 1 where a fault is not noticed, or where its tests fail without it too.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path
from queue import SimpleQueue

from tests.faults.table import FAULTS, ROOT, Fault

PASSED, FAILED = 0, 1
"""Exit codes of pytest: all tests passed, or some failed."""

OPTIONS = ["-q", "-x", "--whole", "-p", "no:cacheprovider", "--tb=no", "-m", "not browser"]

AT_ONCE = 2
"""How many copies there are, each with one fault at a time."""


def main() -> int:
    """Plants the faults that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], help="words in the names of faults")
    parser.add_argument("--trust", action="store_true", help="do not run the tests without a fault")
    arguments = parser.parse_args()
    chosen = [fault for fault in FAULTS.values() if is_named(fault, arguments.only)]
    if not chosen:
        parser.error(f"no fault is called so; there are: {'; '.join(FAULTS)}")

    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        copies = SimpleQueue[Path]()
        for number in range(AT_ONCE):
            copies.put(copy := Path(folder) / f"tree-{number}")
            copy_tree(copy)
        if not arguments.trust and not pass_without(copy, {fault.noticed_by for fault in chosen}):
            return 1
        with ThreadPoolExecutor(AT_ONCE) as pool:
            noticed = list(pool.map(partial(is_noticed, copies=copies), chosen))
    missed = [fault.name for fault, it_is in zip(chosen, noticed, strict=True) if not it_is]
    print(f"{sum(noticed)} of {len(chosen)} faults are noticed")
    for name in missed:
        print(f"not noticed: {name}", file=sys.stderr)
    return 1 if missed else 0


def is_named(fault: Fault, words: Collection[str]) -> bool:
    """Whether one of the words stands in a fault's name; without words every fault is meant."""
    return not words or any(word in fault.name for word in words)


def copy_tree(copy: Path) -> None:
    """Copies every file of the tree that git does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.split("\0"):
        source = ROOT / name
        if name and source.is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy / name)


def pass_without(copy: Path, tests: Collection[str]) -> bool:
    """Whether all tests pass without any fault: or else it proves nothing that they fail with one."""
    start = time.monotonic()
    status = run(copy, "-n", str(AT_ONCE), *sorted(tests))
    print(f"without a fault: exit code {status}, {time.monotonic() - start:.0f} s", flush=True)
    return status == PASSED


def is_noticed(fault: Fault, copies: SimpleQueue[Path]) -> bool:
    """Whether a test fails in one of the copies that passes there without the fault."""
    copy = copies.get()
    path = copy / fault.path
    source = path.read_text(encoding="utf-8")
    start = time.monotonic()
    try:
        write(path, fault.planted(source))
        status = run(copy, fault.noticed_by)
    finally:  # or the others would wait for the copy
        write(path, source)
        copies.put(copy)
    word = {FAILED: "noticed", PASSED: "NOT NOTICED"}.get(status, f"exit code {status}")
    print(f"{word:12} {time.monotonic() - start:4.0f} s  {fault.name}", flush=True)
    return status == FAILED


WRITES = count(1)


def write(path: Path, text: str) -> None:
    """Writes a file with a time of its own: Python tells texts of one length apart by the second alone."""
    path.write_text(text, encoding="utf-8")
    moment = path.stat().st_mtime + 2 * next(WRITES)
    os.utime(path, (moment, moment))


def run(copy: Path, *tests: str) -> int:
    """pytest's exit code for some tests of the copy."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, *tests],
        cwd=copy,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
