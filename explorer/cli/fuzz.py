"""The ``fuzz`` command: runs random nets; wrong gradients become scenario files."""

import time
from collections import Counter
from math import isfinite
from pathlib import Path

from explorer.cli import exit_codes
from explorer.cli.options import FuzzOptions
from explorer.cli.output import prepared, print_document, write_file
from explorer.cli.terminal import progress
from explorer.exploration.options import RunOptions, engines_found
from explorer.fuzz.program import Program, scenario_text
from explorer.fuzz.search import Finding, NetResult, frameworks_of, search
from explorer.model.errors import UsageError
from explorer.model.fuzz import FindingClass, Kind
from explorer.report.json import Document, encode, to_builtins
from explorer.text.language import ENGLISH, _, later, said_in
from explorer.words import fuzz as words

ALARMS: tuple[FindingClass, ...] = ("framework", "ours", "unsteady")
"""Classes of findings that need attention: they are not known yet."""


def run_fuzz(options: FuzzOptions) -> int:
    """Run random nets; print each finding as it comes, then the counts, and write its files."""
    _check(options)
    engines = tuple(options.engines or engines_found())
    folder = prepared(options.out)
    start = time.perf_counter()
    results: list[NetResult] = []
    was_interrupted = False
    try:
        _run(options, engines, folder, results)
    except KeyboardInterrupt:
        was_interrupted = True
    seconds = time.perf_counter() - start
    findings = [result.finding for result in results if result.finding]
    document = _document(options, engines, results, findings, seconds)
    if folder:
        write_file(folder / "fuzz.json", encode(document), is_quiet=True)
    if options.as_json:
        print_document(document)
    else:
        classes = [finding.found for finding in findings]
        print(words.summary(_kinds(results), classes, seconds))
    if was_interrupted:
        return exit_codes.INTERRUPTED
    is_alarming = any(finding.found in ALARMS for finding in findings)
    return exit_codes.DIFFERENT if is_alarming else exit_codes.AS_EXPECTED


def _check(options: FuzzOptions) -> None:
    """Raise UsageError for options that cannot be run."""
    if options.cases < 1 or options.start < 0:
        text = _("--cases must be at least 1 and --start at least 0, got {cases} and {start}")
        raise UsageError(text.format(cases=options.cases, start=options.start))
    RunOptions(engines=options.engines).check()


def _run(
    options: FuzzOptions,
    engines: tuple[str, ...],
    folder: Path | None,
    results: list[NetResult],
) -> None:
    """Add the result of each net to ``results``, and report its finding."""
    numbers = range(options.start, options.start + options.cases)
    with progress() as step:
        for result in search(numbers, options.seed, engines, options.corners):
            results.append(result)
            step(later("random nets"), len(results), options.cases)
            if result.finding:
                _report(result.finding, options, engines, folder)


def _report(
    finding: Finding, options: FuzzOptions, engines: tuple[str, ...], folder: Path | None
) -> None:
    """Print a finding, and write its scenario unless it is known."""
    if not options.as_json:
        net = finding.program
        about = words.about(net.operators, net.dtype, net.order)
        text = words.finding(finding.found, finding.sighting, finding.reasons, about)
        line = _("{what}: {values}").format(what=finding.number, values=text)
        print(line, flush=True)
    if folder and finding.found != "known":
        name = f"net_{options.seed}_{finding.number}.py"
        text = _scenario(finding, options.seed, engines)
        write_file(folder / name, text.encode(), is_quiet=options.as_json)


def _scenario(finding: Finding, seed: int, engines: tuple[str, ...]) -> str:
    """A finding as a scenario file that runs alone."""
    command = "explorer scenario FILE"
    if finding.program.order == 2:
        command += " --order 2"
    title = words.title(finding.number, seed, finding.found)
    notes = words.notes(finding.sighting, command, finding.operators)
    return scenario_text(finding.program, title, notes, frameworks_of(engines))


@said_in(ENGLISH)
def _document(
    options: FuzzOptions,
    engines: tuple[str, ...],
    results: list[NetResult],
    findings: list[Finding],
    seconds: float,
) -> Document:
    used = Counter(operator for result in results for operator in result.operators)
    return {
        "schema": 1,
        "seed": options.seed,
        "start": options.start,
        "corners": options.corners,
        "engines": list(engines),
        "cases": len(results),
        "seconds": seconds,
        "seen": dict(_kinds(results)),
        "classes": dict(Counter(finding.found for finding in findings)),
        "operators": dict(sorted(used.items())),
        "findings": list(map(_row, findings)),
    }


def _row(finding: Finding) -> Document:
    sighting = finding.sighting
    program = to_builtins(finding.program)
    program["values"] = _values(finding.program)
    return {
        "number": finding.number,
        "found": finding.found,
        "sighting": {
            "kind": sighting.kind,
            "engines": list(sighting.engines),
            "detail": words.detail(sighting),
        },
        "program": program,
        "reason": words.reasons(finding.reasons),
        "operators": list(finding.operators),
    }


def _values(program: Program) -> dict[str, list[float | str]]:
    """The inputs' values; JSON has no number for what is not finite, which is a text."""
    rows: dict[str, list[float | str]] = {}
    for name, numbers in program.values.items():
        rows[name] = [value if isfinite(value) else str(value) for value in numbers]
    return rows


def _kinds(results: list[NetResult]) -> Counter[Kind]:
    return Counter(result.sighting.kind for result in results)
