"""Runs the explorer with another version of a framework, in an environment that is made for it.

``python -m tests.versions.smoke mindspore==2.7.0 torch==2.2.2`` installs each requirement, by default
the oldest MindSpore that is promised, into a new environment in a folder that goes with it. There it
asks both engines of the framework for their answers and graphs, compares them with the other framework's
of this environment, and judges the claims of a topic, which runs a study. Ends with 1 where something is
not as it should be, and with 3 where pip cannot install what was asked for. pip takes packages from where
it is set to: that may be a PyTorch with CUDA and its gigabytes of libraries; ``torch==2.15.0+cpu`` takes the
build without them, where pip finds it.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from explorer.folders import SETTINGS, STORE
from explorer.model.engines import placed

ROOT = Path(__file__).resolve().parents[2]

OLDEST = "mindspore==2.7.0"
NET, CASES, TOPIC = "dense_mse", "main", "tape and graph"
REQUIREMENT = re.compile(r"(mindspore|torch)==\d+\.\d+(\.\d+)*(\+cpu)?")
OTHER = {"mindspore": "torch", "torch": "mindspore"}
NUMPY = {"mindspore": "numpy<2", "torch": "numpy"}
"""What is installed beside a framework; old versions of PyTorch were built for numpy 1 alone."""

LAST_WITH_NUMPY_1 = (2, 2)
NAME = "other"
MINUTES = 10.0
NOT_INSTALLED = 3


def install(requirement: str, folder: Path) -> Path:
    """A new environment with a requirement; the path of its Python."""
    venv.EnvBuilder(with_pip=True, symlinks=True).create(folder)
    python = folder / "bin" / "python"
    framework, _, version = requirement.partition("==")
    numpy = NUMPY[framework]
    if tuple(map(int, version.split(".")[:2])) <= LAST_WITH_NUMPY_1:
        numpy = "numpy<2"
    # What this project pins for its own environment is not meant for others.
    free = {**os.environ, "PIP_CONSTRAINT": os.devnull}
    command = [str(python), "-m", "pip", "install", "--quiet", requirement, numpy]
    subprocess.run(command, check=True, env=free, timeout=60 * MINUTES)
    return python


def explorer(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, as a user types it."""
    command = [sys.executable, "-m", "explorer", "--lang", "en", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60 * MINUTES
    )


def document(*arguments: str) -> Any:
    """The JSON that a command prints."""
    done = explorer(*arguments, "--json")
    if not done.stdout:
        raise SystemExit(f"explorer {' '.join(arguments)}\n{done.stderr[-3000:]}")
    return json.loads(done.stdout)


def differences(framework: str) -> Iterator[str]:
    """What is not as it should be with a framework in the environment that is called NAME."""
    styles = "tape", "graph"
    there = [placed(f"{framework}-{style}", NAME) for style in styles]
    here = [f"{OTHER[framework]}-{style}" for style in styles]
    asked = [part for engine in (*there, *here) for part in ("--engine", engine)]
    report = document("scenario", NET, "--cases", CASES, *asked)
    for case in report["cases"]:
        print(f"  {NET}, {case['label']}: {case['verdict']}")
        if not case["expected"]:
            yield f"{case['label']} is {case['verdict']}"
        for engine in there:
            if case["results"][engine]["outcome"] != "ok":
                yield f"{engine} did not answer {case['label']}"
    graphs = {graph["engine"] for graph in report["graphs"]}
    print(f"  graphs: {', '.join(sorted(graphs))}")
    for engine in here:
        if engine not in graphs:
            yield f"{engine} has no graph"
    for style, other in zip(there, here, strict=True):
        if style not in graphs:
            continue
        done = explorer("diff", NET, style, other)
        print(f"  diff {style} {other}: {done.stdout.strip().splitlines()[-1]}")
        if done.returncode != 0:
            yield f"diff {style} {other} ends with {done.returncode}: {done.stderr[-500:]}"
    board = document("claims", "--topic", TOPIC, "--on", NAME)
    verdicts = [row["verdict"] for row in board["rows"]]
    print(f"  claims of {TOPIC}: {', '.join(map(str, verdicts))}")
    for row in board["rows"]:
        if row["verdict"] is None:
            yield f"claim {row['id']} could not be run: {row['not_run']}"


def requirements() -> list[str]:
    """What was typed; ends with a line for what is no version of a framework."""
    known = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    known.add_argument("requirements", nargs="*", default=[OLDEST], help=f"such as {OLDEST}")
    typed: list[str] = known.parse_args().requirements
    for requirement in typed:
        if not REQUIREMENT.fullmatch(requirement):
            known.error(f"{requirement!r}: not a version of a framework, such as {OLDEST!r}")
    return typed


def main() -> int:
    """Run each requirement that was typed; 1 where something is not as it should be."""
    found = []
    for requirement in requirements():
        framework = requirement.partition("==")[0]
        with tempfile.TemporaryDirectory(prefix="explorer-smoke-") as folder:
            os.environ[SETTINGS] = str(Path(folder) / "settings")
            os.environ[STORE] = str(Path(folder) / "store")
            print(f"{requirement}: installing", flush=True)
            try:
                python = install(requirement, Path(folder) / "environment")
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                print(f"{requirement} could not be installed: {error}", file=sys.stderr)
                return NOT_INSTALLED
            print(explorer("env", "add", NAME, str(python)).stdout.strip(), flush=True)
            found += [f"{requirement}: {it}" for it in differences(framework)]
    for it in found:
        print(it, file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
