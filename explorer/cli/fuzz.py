"""The ``fuzz`` command: random nets, each asked of every engine; what is wrong becomes a scenario file."""

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

CLASSES: dict[FindingClass, str] = {
    "framework": "a framework is wrong or has no answer",
    "ours": "the explorer is wrong",
    "unsteady": "not seen when the net was asked again",
    "ill_conditioned": "nothing of it is left at points close by",
    "known": "known",
}
"""What the classes of findings are called, in the order in which they are told."""

ALARMS = ("framework", "ours", "unsteady")
"""Classes that nobody has looked at yet."""


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
            f"--cases {options.cases} --start {options.start} names no nets; allowed: at least one,"
            " from number 0 on"
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
    """Add each net to those that were ``looked`` at, and tell its finding, as it comes."""
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
        f"Run it with `explorer scenario FILE{order}`. The net that it was cut from has the operators\n"
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
    """The counts in a line: "60 nets in 110 s: 48 agree, 2 are refused; 10 findings: 10 known"."""
    seen = Counter(each.sighting.kind for each in looked)
    findings = Counter(each.finding.found for each in looked if each.finding)
    parts = [f"{findings[found]} {name}" for found, name in CLASSES.items() if findings[found]]
    text = f"{len(looked)} nets in {seconds:.0f} s: {seen['agrees']} agree, {seen['refused']} are refused"
    number = sum(findings.values())
    return f"{text}; {number} findings" + (f": {', '.join(parts)}" if parts else "")
