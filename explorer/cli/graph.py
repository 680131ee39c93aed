"""The ``graph`` command: gradient graphs of one case as a file."""

from pathlib import Path
from typing import cast

from explorer import drawing
from explorer.cli import exit_codes
from explorer.cli.options import GraphOptions, chosen_format
from explorer.cli.output import write_file
from explorer.cli.scenario import checked_plan, explored
from explorer.cli.traces import draw_trace
from explorer.drawing.formats import FormatName
from explorer.drawing.views import VIEWS, ViewName
from explorer.model.errors import UsageError
from explorer.recording.files import is_trace, is_training
from explorer.report.files import check_folder
from explorer.report.scenario.export import (
    DEFAULT_DEPTH,
    DEFAULT_VIEW,
    PictureChoice,
    picture_file,
)
from explorer.report.scenario.graphs import at_stage
from explorer.text.choices import choose, refusal
from explorer.text.language import _, later

FORMATS_BY_ENDING = {picture.ending: name for name, picture in drawing.FORMATS.items()}

DEFAULT_ENGINE = "mindspore-graph"


def write_graph(options: GraphOptions) -> int:
    """Capture one or two engines' graphs of one case, and write them as one file."""
    file_format = _format(options.output, options.file_format)
    choose(later("view"), options.view, VIEWS)
    depth = checked_depth(options.depth)
    if file_format == "json":
        _check_for_json(options)
    if is_training(Path(options.name)):
        text = _(
            "{file} is a training, which has no one graph; give the .trace of a step, or use diff"
        )
        raise UsageError(text, file=repr(options.name))
    if is_trace(Path(options.name)):
        return draw_trace(options, cast(FormatName, file_format), depth)
    # Without --engine, other commands run all engines; a file holds one or two graphs.
    plan = checked_plan(options, options.engines or [DEFAULT_ENGINE])
    _check_number(len(plan.wanted.engines), file_format)
    check_folder(options.output.parent)

    report = explored(plan)
    graphs, are_last = at_stage(report, plan.wanted.engines, options.stage)
    choice = PictureChoice(
        scenario=options.name,
        engines=plan.wanted.engines,
        file_format=cast(FormatName, file_format),
        view=cast(ViewName, options.view),
        depth=depth,
    )
    # On an earlier stage, the number of a pair would be that of another graph's node.
    content = picture_file(graphs, report.alignments if are_last else (), choice)
    write_file(options.output, content)
    return exit_codes.AS_EXPECTED


def _check_for_json(options: GraphOptions) -> None:
    for option, value, default in (
        ("--view", options.view, DEFAULT_VIEW),
        ("--depth", options.depth, DEFAULT_DEPTH),
    ):
        if value != default:
            text = _("{option} has no effect on json, which has every node; leave it out")
            raise UsageError(text.format(option=option))


def _check_number(engines: int, file_format: str) -> None:
    if engines > 2:
        text = _("--engine is given {n} times; give one engine, or two to draw side by side")
        raise UsageError(text.format(n=engines))
    if engines == 2 and file_format not in drawing.PAIR_FORMATS:
        text = _(
            "two graphs side by side can be drawn as {formats}, not as {format};"
            " change the ending of FILE, or give only one --engine"
        )
        formats = _(" or ").join(drawing.PAIR_FORMATS)
        raise UsageError(text.format(formats=formats, format=file_format))


def _format(output: Path, name: str | None) -> str:
    """The format of that name, or the one that the file's name ends in."""
    if name:
        return chosen_format(name, tuple(FORMATS_BY_ENDING.values()))
    ending = output.suffix
    if ending in FORMATS_BY_ENDING:
        return FORMATS_BY_ENDING[ending]
    fact = _("{file} has an unknown ending") if ending else _("{file} has no ending")
    fact = fact.format(file=repr(str(output)))
    message = refusal(fact, ending, list(FORMATS_BY_ENDING))
    raise UsageError(_("{message}; or name the format with --format").format(message=message))


def checked_depth(depth: str) -> drawing.Depth:
    """The depth as typed: a number from 0 up, "all" or "fit"; raises UsageError for another."""
    names: dict[str, drawing.Depth] = {"all": "all", "fit": "fit"}
    if depth in names:
        return names[depth]
    if not depth.isdecimal():
        text = _(
            "--depth must be a number from 0 up, all or fit, got {depth} (0 draws the net as one"
            " box, all draws every op, fit draws what fits on a screen)"
        )
        raise UsageError(text.format(depth=repr(depth)))
    return int(depth)
