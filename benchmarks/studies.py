"""Every study on every scenario that it accepts: seconds, exit status, findings, what is unsupported.

Each study on its own scenario; with `--all` those that take one on every shipped scenario. What a study
measures of no scenario in particular is measured for its first figure alone, in workers that serve all:
the seconds of the others are those of the scenario. With a folder of figures (`--keep DIR`), a run that
was broken off goes on, and a later one tells what the findings of today make of them.
"""

import argparse
import hashlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks._figures import Figure, absent
from benchmarks._presenting import parser, present
from explorer.cli.study import exit_code
from explorer.exploration.installed import versions_here
from explorer.model.errors import ExplorerError
from explorer.model.measurement import Measured, Measurement
from explorer.model.study import StudyRecord
from explorer.report.study import not_measured
from explorer.scenario.find import names, real_names
from explorer.text.messages import one_line
from explorer.topics import STUDIES, study_topic
from explorer.topics.measurements import measure as run_all
from explorer.topics.studies import record, target
from explorer.topics.topic import Topic
from explorer.words.messages import study_text
from explorer.workers.workers import Workers

DEVICE = "cpu"


class Memory:
    """The outcomes of measurements; those of equal measurements are one, in a folder if any."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[str, Measured] = {}
        if folder:
            folder.mkdir(parents=True, exist_ok=True)

    def outcomes(self, measurements: list[Measurement], workers: Workers) -> dict[str, Measured]:
        """The outcomes by name; what is known already is not measured again."""
        fresh = {}
        for measurement in measurements:
            if not self._knows(measurement):
                fresh[measurement.name] = measurement
        for name, outcome in run_all(fresh.values(), workers).items():
            # Graphs are large, and nothing is told of them.
            self._put(fresh[name], msgspec.structs.replace(outcome, graphs=()))
        return {measurement.name: self._known[key_of(measurement)] for measurement in measurements}

    def seconds(self, row: str, spent: float) -> float:
        """The seconds that a row took when it was measured; ``spent`` is what it took this time."""
        if self._folder is None:
            return spent
        file = self._folder / f"{row}.seconds"
        if not file.exists():
            file.write_text(str(spent))
        return float(file.read_text())

    def _knows(self, measurement: Measurement) -> bool:
        key = key_of(measurement)
        if key not in self._known and self._folder and (self._folder / key).exists():
            data = (self._folder / key).read_bytes()
            self._known[key] = msgspec.msgpack.decode(data, type=Measured)
        return key in self._known

    def _put(self, measurement: Measurement, outcome: Measured) -> None:
        key = key_of(measurement)
        self._known[key] = outcome
        if self._folder:
            (self._folder / key).write_bytes(msgspec.msgpack.encode(outcome))


def key_of(measurement: Measurement) -> str:
    """What tells a measurement from all that are not equal to it; a file can be called so."""
    # Of a scenario's file its place alone, so that figures can be told of in another checkout.
    place = "/".join(Path(measurement.scenario).parts[-2:])
    what = (measurement.kind, measurement.target, place, measurement.device, measurement.options)
    return hashlib.sha256(msgspec.msgpack.encode(what)).hexdigest()[:24]


def subjects(everything: bool) -> Iterator[tuple[Topic, str | None]]:
    """Each study with a scenario to run it on, None for its own: first all of them on their own."""
    topics = [study_topic(name) for name in STUDIES]
    for topic in topics:
        yield topic, None
    if not everything:
        return
    # The quick studies first, and nested gradients of published nets last: they take longest.
    for group in (names(), real_names()):
        for topic in reversed(topics):
            for scenario in group:
                if topic.default_scenario not in (None, scenario):
                    yield topic, scenario


def figure(
    topic: Topic,
    scenario: str | None,
    memory: Memory,
    workers: Workers,
    versions: dict[str, str],
    limit: float | None,
) -> Figure:
    """The figure of one study on one scenario."""
    name = f"{topic.name} on {scenario or topic.default_scenario or 'its own nets'}"
    start = time.perf_counter()
    try:
        subject = target(topic, scenario, DEVICE)
    except ExplorerError as error:
        return absent(name, "wall", one_line(str(error)))
    workers.request_seconds = limit or topic.seconds
    outcomes = memory.outcomes(topic.measurements(subject), workers)
    study = study_text(record(topic, subject, versions, outcomes))
    seconds = memory.seconds(name.replace("/", " "), time.perf_counter() - start)
    return Figure(
        name=name,
        unit="s",
        basis="wall",
        rounds=(seconds,),
        note=f"exit status {exit_code(topic, subject, study)}, {len(study.findings)} findings; "
        f"unsupported: {unsupported(study)}",
    )


def unsupported(study: StudyRecord) -> str:
    """The measurements without figures, and why; "nothing" when all have some."""
    reasons = []
    for measurements, reason in not_measured(study).items():
        reasons.append(f"{measurements.replace(f'{study.study}.', '')}: {reason}")
    return "; ".join(reasons) or "nothing"


def measure(everything: bool, keep: Path | None, limit: float | None) -> Iterator[Figure]:
    """A figure for each study and scenario."""
    memory = Memory(keep)
    with Workers() as workers:
        versions = versions_here(workers)
        for topic, scenario in subjects(everything):
            yield figure(topic, scenario, memory, workers, versions, limit)


def options() -> argparse.Namespace:
    """What was typed."""
    known = parser(__doc__)
    known.add_argument("--all", action="store_true", help="every shipped scenario: hours")
    known.add_argument("--keep", type=Path, help="a folder for figures", metavar="DIR")
    known.add_argument(
        "--request-timeout", type=float, help="of one measurement; by default the study's own"
    )
    return known.parse_args()


if __name__ == "__main__":
    given = options()
    sys.exit(present(measure(given.all, given.keep, given.request_timeout), given.figures))
