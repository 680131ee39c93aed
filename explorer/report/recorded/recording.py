"""Records the results of everything shipped: `make recorded` runs what is not stored, and writes.

Every figure is measured: nothing in the files that it writes is edited by hand.
"""

import argparse
import datetime
import functools
import gzip
import lzma
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from explorer.exploration.installed import versions_here
from explorer.exploration.options import Wanted
from explorer.exploration.stored import explored
from explorer.model.engines import NEEDED
from explorer.model.errors import ExplorerError
from explorer.model.measurement import Measured, Measurement
from explorer.model.report import Report
from explorer.model.results import LOST
from explorer.report.files import put_file
from explorer.report.recorded.records import (
    RecordedDrawings,
    RecordedMeasurement,
    RecordedScenario,
    Recording,
)
from explorer.report.recorded.results import (
    DRAWINGS_FILE,
    MEASUREMENTS_FILE,
    SCENARIOS_FILE,
    digest_of_text,
    drawings,
    recording,
    report_file,
)
from explorer.report.scenario.card import INTRODUCTION, ScenarioCard, card_of, pair_of_ladders
from explorer.scenario.devices import CPU
from explorer.scenario.find import SHIPPED, find, names
from explorer.scenario.load import load
from explorer.shipped import PACKAGE
from explorer.store.store import Store
from explorer.text.language import LANGUAGES, said_in
from explorer.topics import STUDIES, study_topic
from explorer.topics import claims as every_claim
from explorer.topics.boards import needed
from explorer.topics.measurements import can_be_kept, measure
from explorer.topics.studies import asked, target
from explorer.workers.workers import Workers

SECONDS = 600.0
"""The limit of one request to a worker, as for a study."""

Say = Callable[[str], None]
"""Reports how far the recording is."""


def recorded_now(store: Store, say: Say = print) -> dict[Path, bytes]:
    """The content of each file of recorded results, by its path; what a ``store`` has is not run.

    Raises ExplorerError where a result is not whole: a worker was lost, or ran out of time.
    """
    with Workers(SECONDS) as workers:
        versions = versions_here(workers, store)
    facts, ladders, reports = scenarios_now(names(SHIPPED), versions, store, say)
    drawn = RecordedDrawings(introductions=introductions(store), ladders=ladders)

    today = datetime.date.today().isoformat()
    recorded = Recording(date=today, versions=versions, scenarios=tuple(facts.values()))
    return {
        SCENARIOS_FILE: _readable(recorded),
        DRAWINGS_FILE: _compressed(drawn),
        **measurements_now(store, say),
        **reports,
    }


def measurements_now(store: Store, say: Say = print) -> dict[Path, bytes]:
    """The content of the file of what studies and claims measured, by its path; raises as recorded_now()."""
    outcomes: dict[tuple[str, str], RecordedMeasurement] = {}
    with Workers(SECONDS) as workers:
        for group, wanted in measured_groups():
            for outcome in outcomes_of(wanted, workers, store):
                outcomes[outcome.name, outcome.scenario] = outcome
            say(f"{group}: {len(outcomes)} measurements in all")
    return {MEASUREMENTS_FILE: _compressed(tuple(outcomes[key] for key in sorted(outcomes)))}


def renewed_now(chosen: Iterable[str], store: Store, say: Say = print) -> dict[Path, bytes]:
    """The content of each file in which only the ``chosen`` scenarios are recorded anew.

    It is for scenarios whose nets are as they were: what studies and claims measured stays. Raises as
    recorded_now(), for other versions than the recorded ones too.
    """
    with Workers(SECONDS) as workers:
        versions = versions_here(workers, store)
    if versions != recording().versions:
        raise ExplorerError(
            f"the others were recorded with {recording().versions}, here are {versions};"
            " record all of them"
        )
    paths = {path.stem: path for path in map(find, chosen)}
    new_facts, new_ladders, reports = scenarios_now(paths, versions, store, say)
    facts = {scenario.name: scenario for scenario in recording().scenarios} | new_facts
    ladders = drawings().ladders | new_ladders
    return {
        SCENARIOS_FILE: _readable(
            msgspec.structs.replace(recording(), scenarios=tuple(facts.values()))
        ),
        DRAWINGS_FILE: _compressed(msgspec.structs.replace(drawings(), ladders=ladders)),
        **reports,
    }


class ScenariosNow(NamedTuple):
    """The facts and the small drawing of scenarios by their names, and the files of their reports."""

    facts: dict[str, RecordedScenario]
    ladders: dict[str, str]
    reports: dict[Path, bytes]


def scenarios_now(
    paths: Mapping[str, Path], frameworks: Collection[str], store: Store, say: Say
) -> ScenariosNow:
    """What is recorded of some scenarios; raises as recorded_now()."""
    now = ScenariosNow({}, {}, {})
    for name, path in paths.items():
        report = whole_report(path, store)
        card = card_of(report)
        now.facts[name] = facts_of(name, path, card, frameworks)
        now.ladders[name] = card.ladder
        now.reports[report_file(name)] = packed(report)
        say(f"scenario {name}: {card.different} of {card.cases} cases differ")
    return now


def reports_now(store: Store, say: Say = print) -> dict[Path, bytes]:
    """The content of the file of each shipped scenario's report, by its path; raises as recorded_now()."""
    files: dict[Path, bytes] = {}
    for name, path in names(SHIPPED).items():
        files[report_file(name)] = packed(whole_report(path, store))
        say(f"report on {name}: {len(files[report_file(name)]) / 1000:.0f} kB")
    return files


def introductions(store: Store) -> dict[str, str]:
    """The drawing that introduces the app in every language, by its code."""
    scenario = load(names(SHIPPED)[INTRODUCTION])
    drawn: dict[str, str] = {}
    for language in LANGUAGES:
        with said_in(language):
            drawn[language] = pair_of_ladders(scenario, store)
    if not all(drawn.values()):
        raise ExplorerError(f"{INTRODUCTION} has no two graphs to introduce the app with")
    return drawn


def whole_report(path: Path, store: Store) -> Report:
    """The report on a scenario; raises ExplorerError where it is not whole."""
    # Workers of its own: what one net does to a process does not reach the next.
    with Workers(SECONDS) as workers:
        report = explored(load(path), Wanted(), workers, store)
    if _has_lost_something(report):
        raise ExplorerError(f"the report on {path.stem} is not whole; run it again")
    return report


def _has_lost_something(report: Report) -> bool:
    """Whether a worker was lost, or time ran out; a net that cannot be captured is no loss."""
    if any(left_out.cause != "selected" for left_out in report.left_out):
        return True
    outcomes = [result.outcome for case in report.cases for result in case.results.values()]
    return any(outcome in LOST for outcome in outcomes)


def facts_of(
    name: str, path: Path, card: ScenarioCard, frameworks: Collection[str]
) -> RecordedScenario:
    """The facts of a card of some frameworks that are recorded; title and point are in the file."""
    return RecordedScenario(
        name=name,
        sha256=digest_of_text(path, frameworks),
        cases=card.cases,
        different=card.different,
        unexpected=card.unexpected,
    )


def measured_groups() -> Iterator[tuple[str, list[Measurement]]]:
    """The measurements of each study on its default scenario, and those of all claims."""
    for name in STUDIES:
        topic = study_topic(name)
        yield f"study {name}", asked(topic, target(topic, None, CPU), NEEDED)
    yield "claims", needed(every_claim().values())


def outcomes_of(
    wanted: Iterable[Measurement], workers: Workers, store: Store | None = None
) -> Iterator[RecordedMeasurement]:
    """The outcomes as they are recorded; raises ExplorerError for one that another run may change."""
    requests = list(wanted)
    scenarios = {request.name: request.scenario for request in requests}
    for name, measured in measure(requests, workers, store=store).items():
        if not can_be_kept(measured):
            raise ExplorerError(f"the measurement {name} ended as {measured.outcome}; run it again")
        scenario = Path(scenarios[name]).stem if scenarios[name] else ""
        yield RecordedMeasurement(name=name, scenario=scenario, measured=placeless(measured))


def placeless(measured: Measured) -> Measured:
    """An outcome without graphs, with paths relative to the folder that the explorer is in."""
    text = msgspec.json.encode(msgspec.structs.replace(measured, graphs=()))
    folder = msgspec.json.encode(f"{PACKAGE.parent}/")[1:-1]  # spelt as in the text, without quotes
    return msgspec.json.decode(text.replace(folder, b""), type=Measured)


def packed(report: Report) -> bytes:
    """A report as it is recorded."""
    return lzma.compress(msgspec.msgpack.encode(report), preset=9)


def _readable(record: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"


def _compressed(records: object) -> bytes:
    # Without the time, so that the same records are the same bytes.
    return gzip.compress(msgspec.json.encode(records), 9, mtime=0)


def main() -> int:
    """Record everything, and write the files once all of it is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="scenarios to record anew; else everything")
    parser.add_argument("--fresh", action="store_true", help="run what is stored too")
    parser.add_argument("--reports", action="store_true", help="the reports on scenarios alone")
    parser.add_argument("--measurements", action="store_true", help="studies and claims alone")
    options = parser.parse_args()
    record = reports_now if options.reports else recorded_now
    if options.measurements:
        record = measurements_now
    if options.names:
        record = functools.partial(renewed_now, options.names)
    try:
        # In a store of its own everything is run once: claims and studies share measurements.
        with tempfile.TemporaryDirectory() as folder:
            files = record(Store(Path(folder) if options.fresh else None))
    except ExplorerError as error:
        print(f"nothing is written: {error}", file=sys.stderr)
        return 1
    for path, content in files.items():
        put_file(path, content)
        print(f"wrote {path.relative_to(PACKAGE.parent)}, {len(content) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
