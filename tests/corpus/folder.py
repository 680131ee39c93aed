"""The folder of the corpus: its files, the versions they were recorded with, what differs from them."""

import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from explorer.model.report import Report
from explorer.scenario.find import names, real_names
from tests.corpus.comparison import Section, difference, sections_of, settled, text_of
from tests.corpus.lines import CASES, corpus_files

FOLDER = Path(__file__).parent / "recorded"
VERSIONS = FOLDER / "versions.txt"

SCENARIOS = {**names(), **real_names()}
"""Every shipped scenario, by the name that finds it."""

MODELLED = frozenset(real_names())
"""Those modelled on published nets: of these the main case alone is recorded."""

PACKAGES = ("mindspore", "torch", "numpy")
"""The packages whose versions the corpus depends on, beside Python."""

INSTRUCTIONS = ("avx512f", "avx2")
"""Instructions of a processor by which kernels are chosen, and so how they round; the first counts."""


# Versions


def versions_here() -> dict[str, str]:
    """The versions that a corpus made here would depend on."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    packages = {package: _installed(package) for package in PACKAGES}
    description = Path("/proc/cpuinfo")
    text = description.read_text(encoding="utf-8") if description.is_file() else ""
    processor = next((name for name in INSTRUCTIONS if name in text), "other")
    return {"python": python, "processor": processor, **packages}


def _installed(package: str) -> str:
    """The version of a package; "none" where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def recorded_versions() -> dict[str, str]:
    """The versions that the corpus was recorded with; empty where there is no corpus yet."""
    if not VERSIONS.is_file():
        return {}
    lines = VERSIONS.read_text(encoding="utf-8").splitlines()
    return dict(line.split(" ", 1) for line in lines)


def other_versions() -> str:
    """What is installed here in another version than the corpus was recorded with, as a sentence."""
    here, recorded = versions_here(), recorded_versions()
    others = [name for name in here if here[name] != recorded.get(name)]
    if not others:
        return ""
    were = ", ".join(f"{name} {recorded.get(name, 'unknown')}" for name in others)
    are = ", ".join(f"{name} {here[name]}" for name in others)
    return f"the corpus was recorded with {were}; installed: {are}"


def write_versions() -> None:
    """Notes the versions that are installed."""
    lines = [f"{name} {number}" for name, number in versions_here().items()]
    VERSIONS.parent.mkdir(exist_ok=True)
    VERSIONS.write_text("\n".join(lines) + "\n", encoding="utf-8")


# Files


def folder_of(scenario: str) -> Path:
    """Where the files of a scenario are; its name is as in a report, without a folder."""
    return FOLDER / scenario


def write(report: Report) -> None:
    """Writes the files of a scenario; a line that only rounding has changed stays as it was."""
    folder = folder_of(report.scenario)
    folder.mkdir(parents=True, exist_ok=True)
    files = corpus_files(report)
    for name, new in files.items():
        file = folder / name
        recorded = file.read_text(encoding="utf-8") if file.is_file() else ""
        file.write_text(settled(recorded, new), encoding="utf-8")
    for file in folder.iterdir():
        if file.name not in files:
            file.unlink()


def remove_others(scenarios: set[str]) -> None:
    """Removes the folders of scenarios that there are no longer."""
    for folder in FOLDER.iterdir():
        if folder.is_dir() and folder.name not in scenarios:
            shutil.rmtree(folder)


def differences(report: Report) -> str:
    """The diff from what the corpus has of a scenario to a report; empty where nothing differs.

    Of the cases, those are compared that the report has.
    """
    folder = folder_of(report.scenario)
    files = corpus_files(report)
    recorded_names = {file.name for file in folder.glob("*.txt")}
    found = []
    for name in sorted({*files, *recorded_names}):
        file = folder / name
        recorded = file.read_text(encoding="utf-8") if file.is_file() else ""
        new = files.get(name, "")
        if name == CASES:
            # The first section of the recorded file, and those of the cases that the new one has.
            first, *sections = sections_of(recorded)
            labels = {_label(section) for section in sections_of(new)}
            recorded = text_of([first, *(each for each in sections if _label(each) in labels)])
        found.append(difference(recorded, new, f"{report.scenario}/{name}"))
    return "".join(found)


def _label(section: Section) -> str:
    """The case that a section is about."""
    return section[0].partition(": ")[0]
