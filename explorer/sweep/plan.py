"""The jobs of a sweep, from the names, patterns and folders that a person gives."""

import fnmatch
import glob
from collections.abc import Iterable, Iterator
from pathlib import Path

from explorer.exploration.options import RunOptions, Wanted
from explorer.model.errors import UsageError
from explorer.scenario.find import names, real_names
from explorer.sweep.records import SweepJob
from explorer.text.choices import refusal
from explorer.topics import STUDIES, study_topic


def scenarios_called(patterns: Iterable[str]) -> dict[str, Path]:
    """The scenarios that names, patterns, files and folders match, each once, in the order given.

    A pattern is matched with the shipped names ("conv*", "real/*") and with paths ("nets/*.py"); a
    folder matches all scenarios in it. Without any, all shipped ones outside "real/". Raises
    UsageError for one that matches nothing.
    """
    patterns = list(patterns)
    if not patterns:
        return names()
    found: dict[str, Path] = {}
    for pattern in patterns:
        matches = dict(_matches(pattern))
        if not matches:
            fact = f"{pattern!r} matches neither a shipped scenario, nor a .py file, nor a folder of them"
            raise UsageError(refusal(fact, pattern, [*names(), *real_names()]))
        # By path: two patterns may match one file.
        known = set(found.values())
        found.update({name: path for name, path in matches.items() if path not in known})
    return found


def _matches(pattern: str) -> Iterator[tuple[str, Path]]:
    shipped = {**names(), **real_names()}
    for name in fnmatch.filter(shipped, pattern):
        yield name, shipped[name]
    for place in sorted(glob.glob(pattern, recursive=True)):
        path = Path(place)
        files = sorted(path.glob("*.py")) if path.is_dir() else [path]
        for file in files:
            if file.suffix == ".py" and not file.name.startswith("_"):
                # As it was written: two files of one name are distinguished by their folders.
                yield str(file), file.resolve()


def jobs(
    patterns: Iterable[str],
    *,
    studies: bool = False,
    device: str = "cpu",
    fresh: bool = False,
    timeout: float,
    request_timeout: float | None = None,
) -> list[SweepJob]:
    """A job for each scenario, and with ``studies`` one for each study that takes a scenario as well.

    Raises UsageError for a pattern that matches nothing, and for an unknown device.
    """
    RunOptions(device=device).check()
    kinds = [""]
    if studies:
        kinds += [name for name in STUDIES if study_topic(name).default_scenario is not None]
    planned = []
    for name, path in scenarios_called(patterns).items():
        for study in kinds:
            job = SweepJob(
                scenario=name,
                file=str(path),
                study=study,
                wanted=Wanted(device=device),
                fresh=fresh,
                timeout=timeout,
                request_timeout=request_timeout,
            )
            planned.append(job)
    return planned
