"""Whole nets of packages in two frameworks: right ports, real differences, mistakes.

Those of mindcv are set beside those of torchvision and timm, flax's models of transformers beside its
PyTorch ones, in evaluation and in training. Says on stderr how the parameters were paired, the verdict,
the first divergence with its lines, the time and the memory of all processes. A right port is refused
where an unexpected difference, a divergence or an alarm is reported; of nets that really differ the op
must be named; of a planted mistake its module.

The packages are those of packages.txt, in the folder that --packages names (`make bench-packages`).

Run: python -m benchmarks.packages [--pairs NAME ...] [--modes evaluation training] [--mistakes] [--json FILE]
"""

import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from benchmarks._figures import Figure, absent
from benchmarks._package_pairs import (
    ALIKE,
    BOTH,
    MISTAKES,
    PAIRS,
    TRANSFORMERS,
    AnyPair,
    Mistake,
    Mode,
    right_port,
)
from benchmarks._presenting import detail, parser, present
from benchmarks.large import ROOT, Watch
from explorer.exploration.explore import explore
from explorer.exploration.options import Callbacks
from explorer.model.alignment import Alignment
from explorer.model.engines import ENGINES
from explorer.model.errors import ExplorerError, ScenarioError
from explorer.model.report import Report
from explorer.scenario.reader import read
from explorer.words.cases import summary
from explorer.words.divergences import first_divergence
from explorer.words.findings import sentence as finding_sentence
from explorer.workers.workers import Workers

PACKAGES = ROOT / ".packages"
"""The folder in which `make bench-packages` installs them."""

REQUEST_SECONDS = 120.0
FEWEST = 20
"""The least number of pairs that are to be compared."""

FEW = 4
"""The number of pairs in a run of all benchmarks."""

Verdict = Literal["clean", "refused", "named", "not named", "not paired", "failed"]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What the explorer says of one pair in one mode, with a mistake or without."""

    pair: str
    mode: Mode
    verdict: Verdict
    pairing: str = ""
    module: str = ""
    cases: str = ""
    sentences: tuple[str, ...] = ()
    first_seconds: float = 0.0
    seconds: float = 0.0
    megabytes: float = 0.0


# One run


def compared(
    pair: AnyPair, mode: Mode, engines: tuple[str, ...], mistake: Mistake | None = None
) -> Outcome:
    """What is said of a pair."""
    watch = Watch()
    start = time.perf_counter()
    early: list[float] = []

    def first(_answer: object) -> None:
        early.append(time.perf_counter() - start)

    outcome = Outcome(pair=pair.name, mode=mode, verdict="failed")
    report: Report | None = None
    try:
        with tempfile.TemporaryDirectory() as folder, Workers(REQUEST_SECONDS) as workers:
            file = Path(folder) / f"{pair.name}.py"
            file.write_text(pair.scenario(mode == "training", mistake))
            report = explore(
                read(file, fresh=True),
                workers,
                engines=engines,
                selection="main",
                callbacks=Callbacks(early=first, first=first),
            )
    except ExplorerError as error:
        outcome = msgspec.structs.replace(
            outcome,
            verdict=_verdict_on_error(error, pair),
            sentences=tuple(str(error).splitlines()[:3]),
        )
    seconds, megabytes = time.perf_counter() - start, watch.stop()
    outcome = msgspec.structs.replace(
        outcome,
        pairing=_pairing(report),
        module=mistake.module if mistake else "",
        first_seconds=early[0] if early else 0.0,
        seconds=seconds,
        megabytes=megabytes,
    )
    if report is None:
        return outcome
    verdict = _verdict(report, pair, mode, mistake)
    return msgspec.structs.replace(
        outcome, verdict=verdict, cases=summary(report), sentences=tuple(sentences(report))
    )


def _verdict_on_error(error: ExplorerError, pair: AnyPair) -> Verdict:
    """Nets that have other parameters are refused; the reason may be the one that is expected."""
    if not isinstance(error, ScenarioError):
        return "failed"
    return "named" if any(part in str(error) for part in pair.differs) else "not paired"


def _pairing(report: Report | None) -> str:
    """How the parameters were paired."""
    if report is None:
        return "not"
    said = [finding_sentence(found) for found in report.findings if found.kind == "names"]
    return "; ".join(said) or "by name"


def sentences(report: Report) -> Iterator[str]:
    """What a report says against the nets."""
    for finding in report.findings:
        if finding.kind == "names":
            continue
        text = finding_sentence(finding)
        yield f"alarm: {text}" if finding.is_alarm else f"finding: {text}"
    for case in report.cases:
        if case.oracle and case.oracle.outcome != "ok":
            failure = case.oracle.error
            why = f"{failure.type} {failure.kind or failure.message}" if failure else ""
            yield f"reference: {case.oracle.outcome} {why}".rstrip()
        if not case.expected:
            greatest = case.greatest
            yield f"case: {case.verdict}, reference agrees: {case.oracle_agrees}, {greatest}"
    for alignment in report.alignments:
        if alignment.divergence:
            yield f"{alignment.left} | {alignment.right}: {first_divergence(alignment)}"
    for engine, ungraphed in report.ungraphed.items():
        yield f"no graph of {engine}: {ungraphed.error.type} {ungraphed.error.message[:200]}"


def _verdict(report: Report, pair: AnyPair, mode: Mode, mistake: Mistake | None) -> Verdict:
    if mistake:
        return "named" if _names_module(report, mistake) else "not named"
    differs = pair.differs
    if mode == "training":
        differs += pair.differs_in_training
    if differs:
        between = list(filter(_is_between_frameworks, report.alignments))
        said = [first_divergence(alignment) for alignment in between]
        is_named = all(any(part in text for part in differs) for text in said)
        return "named" if said and is_named else "not named"
    has_divergence = any(alignment.divergence for alignment in report.alignments)
    is_clean = report.is_as_expected and not has_divergence and not report.ungraphed
    return "clean" if is_clean else "refused"


def _is_between_frameworks(alignment: Alignment) -> bool:
    left, right = (engine.partition("-")[0] for engine in (alignment.left, alignment.right))
    return left != right


def _names_module(report: Report, mistake: Mistake) -> bool:
    """Whether every divergence between the frameworks is at the module of a mistake."""
    graphs = {graph.engine: graph for graph in report.graphs}
    seen = 0
    for alignment in filter(_is_between_frameworks, report.alignments):
        if alignment.divergence is None:
            return False
        scopes = []
        for engine, end in zip(
            (alignment.left, alignment.right), alignment.divergence.ends, strict=True
        ):
            if end.node is not None and engine.startswith("torch"):
                node = next(node for node in graphs[engine].nodes if node.id == end.node)
                scopes.append(node.scope)
        if not any(scope == mistake.module for scope in scopes):
            return False
        seen += 1
    return seen > 0


# The table


def measure(
    pairs: list[AnyPair],
    modes: list[Mode],
    mistakes: bool,
    engines: tuple[str, ...],
    file: Path | None,
) -> Iterator[Figure]:
    """The counts of right ports that are clean, of real differences named, and of mistakes named."""
    outcomes: list[Outcome] = []
    for outcome in _outcomes(pairs, modes, mistakes, engines):
        outcomes.append(outcome)
        _say(outcome)
        if file:
            with file.open("ab") as lines:
                lines.write(msgspec.json.encode(outcome) + b"\n")
    plain = [outcome for outcome in outcomes if not outcome.module]
    planted = [outcome for outcome in outcomes if outcome.module]
    paired = {outcome.pair for outcome in plain if outcome.verdict not in ("not paired", "failed")}
    yield _count("pairs compared", len(paired), bar=FEWEST if len(pairs) >= FEWEST else None)
    yield _count("right ports refused", _verdicts(plain)["refused"], bar=0, wanted="low")
    yield _count("real differences not named", _verdicts(plain)["not named"], bar=0, wanted="low")
    if planted:
        yield _count("mistakes not named", _verdicts(planted)["not named"], bar=0, wanted="low")
    yield Figure(
        name="one pair",
        unit="s",
        basis="wall",
        rounds=tuple(outcome.seconds for outcome in outcomes),
    )
    yield Figure(
        name="memory of one pair",
        unit="MB",
        basis="size",
        rounds=tuple(outcome.megabytes for outcome in outcomes),
    )


def _outcomes(
    pairs: list[AnyPair], modes: list[Mode], mistakes: bool, engines: tuple[str, ...]
) -> Iterator[Outcome]:
    if mistakes:
        by_name = {pair.name: pair for pair in pairs}
        for mistake in MISTAKES:
            if mistake.pair in by_name:
                yield compared(by_name[mistake.pair], "evaluation", engines, mistake)
        return
    for pair in pairs:
        for mode in (mode for mode in modes if mode in pair.modes):
            yield compared(pair, mode, engines)


def _verdicts(outcomes: list[Outcome]) -> Counter[str]:
    return Counter(outcome.verdict for outcome in outcomes)


def _count(
    name: str, count: int, *, bar: float | None, wanted: Literal["low", "high"] = "high"
) -> Figure:
    return Figure(name=name, unit="", basis="count", rounds=(float(count),), bar=bar, wanted=wanted)


def _say(outcome: Outcome) -> None:
    what = f"{outcome.pair} {outcome.mode} {outcome.module}".rstrip()
    detail(
        f"{outcome.verdict:10} {what}; {outcome.cases};"
        f" first answer {outcome.first_seconds:.0f} s, {outcome.seconds:.0f} s,"
        f" {outcome.megabytes:.0f} MB"
    )
    detail(f"    parameters: {outcome.pairing}")
    for text in outcome.sentences:
        detail(f"    {text}")


def main() -> int:
    """Measure what was asked for."""
    options = parser(__doc__)
    options.add_argument("--pairs", nargs="+", metavar="NAME")
    options.add_argument("--modes", nargs="+", choices=("evaluation", "training"))
    options.add_argument("--mistakes", action="store_true", help="plant mistakes instead")
    options.add_argument("--engines", nargs="+", metavar="ENGINE")
    options.add_argument("--packages", type=Path, default=PACKAGES)
    options.add_argument("--json", type=Path, help="add each outcome to a file, a line each")
    chosen = options.parse_args()
    if not _add_to_path(chosen.packages):
        why = f"the packages are not in {chosen.packages.name}; `make bench-packages` installs them"
        return present([absent("whole nets", "count", why)], chosen.figures)
    right = (right_port(pair) for pair in PAIRS if pair.name in ALIKE)
    every: list[AnyPair] = [*PAIRS, *right, *TRANSFORMERS]
    pairs = [pair for pair in every if not chosen.pairs or pair.name in chosen.pairs]
    modes: list[Mode] = chosen.modes or list(BOTH)
    if chosen.figures and not chosen.pairs:
        # In a run of all benchmarks there is time for a few.
        pairs, modes = pairs[:FEW], ["evaluation"]
    engines = tuple(chosen.engines or ENGINES)
    return present(measure(pairs, modes, chosen.mistakes, engines, chosen.json), chosen.figures)


def _add_to_path(folder: Path) -> bool:
    """Let workers import the packages; False where they are not installed."""
    if not (folder / "mindcv").is_dir():
        return False
    paths = [str(folder.resolve()), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return True


if __name__ == "__main__":
    sys.exit(main())
