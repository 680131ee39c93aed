"""The ``train`` command: trains a scenario's nets, and writes what was recorded of each training."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from explorer.cli import exit_codes
from explorer.cli.options import TrainOptions, check_seconds
from explorer.cli.output import prepared, print_document, print_written
from explorer.cli.terminal import progress
from explorer.exploration.recordings import checked_engines, compared, report_at, trained
from explorer.model.errors import UsageError
from explorer.model.report import Report
from explorer.model.training import Training
from explorer.model.training_comparison import TrainingComparison
from explorer.recording.files import TRAINING, encoded
from explorer.report.files import put_file
from explorer.report.losses import loss_lines, training_document
from explorer.report.schemas import trainings_document
from explorer.report.training import comparison_lines, graph_lines
from explorer.scenario.devices import parse
from explorer.scenario.find import find
from explorer.scenario.reader import read
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.words.traces import missing_text
from explorer.workers.workers import Workers


def train(options: TrainOptions) -> int:
    """Train the nets of a scenario; print losses and the first difference, and write a file for each."""
    _check(options)
    scenario = read(find(options.name))
    engines = checked_engines(options.engines or [], scenario)
    folder = prepared(options.out or Path("out") / scenario.name)
    assert folder is not None
    with Workers(options.request_timeout, options.timeout) as workers, progress() as shown:
        trainings = trained(
            scenario, workers, engines, options.steps, device=options.device, progress=shown
        )
        comparison = _comparison(trainings)
        graphs = _graphs(trainings, comparison, workers)
    files = {name: folder / f"{name}{TRAINING.ending}" for name in trainings}
    for name, training in trainings.items():
        put_file(files[name], encoded(training))
    if options.as_json:
        document = training_document(scenario.name, trainings, files)
        if comparison is not None:
            document["comparison"] = trainings_document(comparison)
        print_document(document)
    else:
        _print([*_lines(trainings, comparison), *graph_lines(graphs)], files)
    return _exit_code(trainings, comparison)


def _check(options: TrainOptions) -> None:
    """Raise UsageError for what cannot be; nothing is run for it."""
    if options.steps < 1:
        text = _("--steps must be a number from 1 up, got {given}")
        raise UsageError(text.format(given=options.steps))
    check_seconds("--timeout", options.timeout)
    check_seconds("--request-timeout", options.request_timeout)
    parse(options.device)


def _print(lines: list[str], files: dict[str, Path]) -> None:
    for line in lines:
        print(clean(line))
    for path in files.values():
        print_written(path)


def _exit_code(trainings: dict[str, Training], comparison: TrainingComparison | None) -> int:
    if not all(training.steps and not training.missing for training in trainings.values()):
        return exit_codes.LOST
    is_same = comparison is None or comparison.difference is None
    return exit_codes.AS_EXPECTED if is_same else exit_codes.DIFFERENT


def _comparison(trainings: dict[str, Training]) -> TrainingComparison | None:
    """The comparison of two trainings; of one there is none, nor where one has no steps."""
    if len(trainings) < 2 or not all(training.steps for training in trainings.values()):
        return None
    left, right = (
        msgspec.structs.replace(training, name=name) for name, training in trainings.items()
    )
    return compared(left, right)


def _graphs(
    trainings: dict[str, Training], comparison: TrainingComparison | None, workers: Workers
) -> Report | None:
    """The report on the graphs of the step where two trainings first differ."""
    if comparison is None:
        return None
    left, right = trainings.values()
    return report_at(left, right, comparison, workers)


def _lines(trainings: dict[str, Training], comparison: TrainingComparison | None) -> Iterator[str]:
    yield from loss_lines(trainings)
    for name, training in trainings.items():
        for missing in training.missing:
            yield f"{name}: {missing_text(missing)}"
    if comparison is not None:
        yield from comparison_lines(comparison)
