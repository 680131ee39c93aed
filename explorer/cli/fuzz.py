"""The ``fuzz`` command: runs random nets on every engine; wrong gradients become scenario files."""

import time
from collections import Counter
from pathlib import Path

import msgspec

from explorer.cli import exit_codes
from explorer.cli.output import print_document, print_written
from explorer.cli.terminal import progress
from explorer.fuzz.program import scenario_text
from explorer.fuzz.search import Finding, FindingClass, Looked, search
from explorer.model.errors import UsageError
from explorer.report.files import prepare_folder, put_file
from explorer.report.json import Document, encode, to_builtins
from explorer.text.messages import one_line
from explorer.text.numbers import counted

CLASSES: dict[FindingClass, str] = {
    "framework": "a framework is wrong or gives no result",
    "ours": "the explorer is wrong",
    "unsteady": "did not occur again in a second run",
    "ill_conditioned": "does not occur at nearby inputs",
    "known": "known",
}
"""Descriptions of the classes of findings, in the order in which they are reported."""

ALARMS = ("framework", "ours", "unsteady")
"""Classes of findings that need attention: they are not known yet."""


class FuzzOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the ``fuzz`` command, as typed."""

    cases: int
    seed: int
    start: int
    out: Path | None
    as_json: bool


def run_fuzz(options: FuzzOptions) -> int:
    """Look at random nets; print each finding as it comes and the counts last, and write its files."""
    if options.cases < 1 or options.start < 0:
        raise UsageError(
            f"--cases must be at least 1 and --start at least 0, got {options.cases} and"
            f" {options.start}"
        )
    folder = prepare_folder(options.out) if options.out else None
    start = time.perf_counter()
    looked: list[Looked] = []
    was_interrupted = False
    try:
        _look(options, folder, looked)
    except KeyboardInterrupt:
        was_interrupted = True
    document = _document(options, looked, time.perf_counter() - start)
    if folder:
        put_file(folder / "fuzz.json", encode(document))
    if options.as_json:
        print_document(document)
    else:
        print(_summary(looked, document["seconds"]))
    if was_interrupted:
        return exit_codes.INTERRUPTED
    is_alarming = any(each.finding and each.finding.found in ALARMS for each in looked)
    return exit_codes.DIFFERENT if is_alarming else exit_codes.AS_EXPECTED


def _look(options: FuzzOptions, folder: Path | None, looked: list[Looked]) -> None:
    """Add each net to those that were ``looked`` at, and report its finding, as it comes."""
    numbers = range(options.start, options.start + options.cases)
    with progress() as step:
        for each in search(numbers, options.seed):
            looked.append(each)
            step("random nets", len(looked), options.cases)
            if each.finding:
                _tell(each.finding, options, folder)


def _tell(finding: Finding, options: FuzzOptions, folder: Path | None) -> None:
    """Print a finding, and write its scenario unless it is known."""
    if not options.as_json:
        print(_line(finding), flush=True)
    if folder and finding.found != "known":
        name = f"net_{options.seed}_{finding.number}.py"
        path = put_file(folder / name, _scenario(finding, options.seed).encode())
        if not options.as_json:
            print_written(path)


def _line(finding: Finding) -> str:
    operators = ", ".join(finding.program.operators) or "no operator"
    why = finding.reason or one_line(finding.sighting.detail)
    engines = ", ".join(finding.sighting.engines)
    about = f"{operators}, {finding.program.dtype}, order {finding.program.order}"
    return f"{finding.number}: {CLASSES[finding.found]}: {finding.sighting.kind} ({about}): {engines}: {why}"


def _scenario(finding: Finding, seed: int) -> str:
    """A finding as a scenario file that runs alone."""
    order = " --order 2" if finding.program.order == 2 else ""
    title = f"Random net {finding.number} of seed {seed}: {CLASSES[finding.found]}"
    engines = ", ".join(finding.sighting.engines)
    notes = (
        f"Seen: {finding.sighting.kind}: {engines}: {one_line(finding.sighting.detail)}\n\n"
        f"Run it with `explorer scenario FILE{order}`. The net from which it was reduced has the operators\n"
        f"{', '.join(finding.operators)}."
    )
    return scenario_text(finding.program, title, notes)


def _document(options: FuzzOptions, looked: list[Looked], seconds: float) -> Document:
    findings = [each.finding for each in looked if each.finding]
    used = Counter(operator for each in looked for operator in each.operators)
    return {
        "schema": 1,
        "seed": options.seed,
        "start": options.start,
        "cases": len(looked),
        "seconds": seconds,
        "seen": dict(Counter(each.sighting.kind for each in looked)),
        "classes": dict(Counter(finding.found for finding in findings)),
        "operators": dict(sorted(used.items())),
        "findings": to_builtins(findings),
    }


def _summary(looked: list[Looked], seconds: float) -> str:
    """The counts in a line: "60 nets in 110 s: 48 agree, 2 rejected; 10 findings: 10 known"."""
    seen = Counter(each.sighting.kind for each in looked)
    findings = Counter(each.finding.found for each in looked if each.finding)
    parts = [f"{findings[found]} {name}" for found, name in CLASSES.items() if findings[found]]
    verdicts = f"{seen['agrees']} agree, {seen['refused']} rejected"
    text = f"{counted(len(looked), 'net')} in {seconds:.0f} s: {verdicts}"
    number = counted(sum(findings.values()), "finding")
    return f"{text}; {number}: {', '.join(parts)}" if parts else f"{text}; {number}"
