"""Trainings in lines: what was recorded of one, and the losses of several beside each other."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from explorer.model.training import Training
from explorer.report.json import Document
from explorer.text.language import _
from explorer.text.numbers import plain
from explorer.words.traces import missing_text


def training_lines(training: Training, name: str) -> Iterator[str]:
    """What a training holds, a line each; they hold foreign text, which whoever prints them cleans."""
    yield name
    versions = ", ".join(f"{package} {version}" for package, version in training.versions.items())
    rows = {
        _("versions"): versions,
        _("devices"): training.device,
        _("optimizer"): training.optimizer,
    }
    for key, value in rows.items():
        if value:
            yield f"  {key}: {value}"
    for line in loss_lines({name: training}):
        yield f"  {line}"
    for missing in training.missing:
        yield f"  {missing_text(missing)}"


def loss_lines(trainings: Mapping[str, Training]) -> Iterator[str]:
    """The losses of trainings by their names, a line a step."""
    losses = {name: losses_of(training) for name, training in trainings.items()}
    numbers = sorted({number for column in losses.values() for number in column})
    widths = [max(len(name), 12) for name in losses]
    heads = [name.rjust(width) for name, width in zip(losses, widths, strict=True)]
    yield "  ".join((_("step").rjust(6), *heads))
    for number in numbers:
        cells = []
        for column, width in zip(losses.values(), widths, strict=True):
            loss = column.get(number)
            cells.append(("-" if loss is None else f"{loss:.6g}").rjust(width))
        yield "  ".join((str(number).rjust(6), *cells))


def losses_of(training: Training) -> dict[int, float | None]:
    """The loss of each step by its number."""
    return {step.number: step.loss for step in training.steps}


def training_document(
    scenario: str, trainings: Mapping[str, Training], files: Mapping[str, Path]
) -> Document:
    """The losses of trainings as JSON has them, and the files with all else."""
    engines = {}
    for name, training in trainings.items():
        engines[name] = {
            "file": str(files[name]),
            "optimizer": training.optimizer,
            "versions": training.versions,
            "losses": plain(list(losses_of(training).values())),
            "missing": [missing_text(missing) for missing in training.missing],
        }
    return {"scenario": scenario, "engines": engines}
