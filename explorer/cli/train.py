"""The ``train`` command: trains a scenario's nets, and writes what was recorded of each training."""

from pathlib import Path

from explorer.cli import exit_codes
from explorer.cli.options import TrainOptions, check_seconds
from explorer.cli.output import prepared, print_document, print_written
from explorer.cli.terminal import progress
from explorer.exploration.training_runs import checked_engines, trained
from explorer.model.errors import UsageError
from explorer.model.training import Training
from explorer.recording.files import TRAINING, encoded
from explorer.report.files import put_file
from explorer.report.losses import loss_lines, training_document
from explorer.scenario.devices import parse
from explorer.scenario.find import find
from explorer.scenario.reader import read
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.words.traces import missing_text
from explorer.workers.workers import Workers


def train(options: TrainOptions) -> int:
    """Train the nets of a scenario; print their losses, and write a file for each engine."""
    if options.steps < 1:
        text = _("--steps must be a number from 1 up, got {given}")
        raise UsageError(text.format(given=options.steps))
    check_seconds("--timeout", options.timeout)
    check_seconds("--request-timeout", options.request_timeout)
    parse(options.device)
    scenario = read(find(options.name))
    engines = checked_engines(options.engines or [], scenario)
    folder = prepared(options.out or Path("out") / scenario.name)
    assert folder is not None
    with Workers(options.request_timeout, options.timeout) as workers, progress() as shown:
        trainings = trained(
            scenario, workers, engines, options.steps, device=options.device, progress=shown
        )
    files = {name: folder / f"{name}{TRAINING.ending}" for name in trainings}
    for name, training in trainings.items():
        put_file(files[name], encoded(training))
    if options.as_json:
        print_document(training_document(scenario.name, trainings, files))
    else:
        _show(trainings)
        for path in files.values():
            print_written(path)
    is_whole = all(training.steps and not training.missing for training in trainings.values())
    return exit_codes.AS_EXPECTED if is_whole else exit_codes.LOST


def _show(trainings: dict[str, Training]) -> None:
    for line in loss_lines(trainings):
        print(clean(line))
    for name, training in trainings.items():
        for missing in training.missing:
            print(clean(f"{name}: {missing_text(missing)}"))
