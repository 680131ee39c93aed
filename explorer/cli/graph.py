"""The ``graph`` command: gradient graphs of one case as a file."""

from pathlib import Path
from typing import cast

import msgspec

from explorer import drawing
from explorer.cli import exit_codes
from explorer.cli.exploration import explored
from explorer.cli.options import ScenarioOptions, checked_plan, chosen_format
from explorer.cli.output import print_written
from explorer.drawing.formats import FormatName
from explorer.drawing.views import VIEWS, ViewName
from explorer.model.errors import UsageError
from explorer.report.files import check_folder, put_file
from explorer.report.scenario.export import PictureChoice, picture_file
from explorer.report.scenario.graphs import at_stage
from explorer.text.choices import choose, refusal

FORMATS_BY_ENDING = {picture.ending: name for name, picture in drawing.FORMATS.items()}

DEFAULT_ENGINE = "mindspore-graph"


class DrawingOptions(msgspec.Struct, frozen=True):
    """The options of a drawing, as typed."""

    view: str
    depth: str
    stage: str | None
    file_format: str | None


def write_graph(options: ScenarioOptions, output: Path, drawing_options: DrawingOptions) -> int:
    """Capture one or two engines' graphs of one case, and write them as one file."""
    file_format = _format(output, drawing_options.file_format)
    choose("view", drawing_options.view, VIEWS)
    depth = checked_depth(drawing_options.depth)
    # Without --engine, other commands run all engines; a file holds one or two graphs.
    engines = options.engines or [DEFAULT_ENGINE]
    plan = checked_plan(msgspec.structs.replace(options, engines=engines))
    _check_number(len(plan.wanted.engines), file_format)
    check_folder(output.parent)

    report = explored(plan)
    graphs, are_last = at_stage(report, plan.wanted.engines, drawing_options.stage)
    choice = PictureChoice(
        scenario=options.name,
        engines=plan.wanted.engines,
        file_format=cast(FormatName, file_format),
        view=cast(ViewName, drawing_options.view),
        depth=depth,
    )
    # On an earlier stage, the number of a pair would be that of another graph's node.
    content = picture_file(graphs, report.alignments if are_last else (), choice)
    print_written(put_file(output, content))
    return exit_codes.AS_EXPECTED


def _check_number(engines: int, file_format: str) -> None:
    if engines > 2:
        raise UsageError(
            f"--engine is given {engines} times; give one engine, or two to draw side by side"
        )
    if engines == 2 and file_format not in drawing.PAIR_FORMATS:
        formats = " or ".join(drawing.PAIR_FORMATS)
        raise UsageError(
            f"two graphs side by side can be drawn as {formats}, not as {file_format}; "
            "change the ending of FILE, or give only one --engine"
        )


def _format(output: Path, name: str | None) -> str:
    """The format of that name, or the one that the file's name ends in."""
    if name:
        return chosen_format(name, tuple(FORMATS_BY_ENDING.values()))
    ending = output.suffix
    if ending in FORMATS_BY_ENDING:
        return FORMATS_BY_ENDING[ending]
    problem = "has an unknown ending" if ending else "has no ending"
    message = refusal(f"{str(output)!r} {problem}", ending, list(FORMATS_BY_ENDING))
    raise UsageError(f"{message}; or name the format with --format")


def checked_depth(depth: str) -> drawing.Depth:
    """The depth as typed: a number from 0 up, "all" or "fit"; raises UsageError for another."""
    names: dict[str, drawing.Depth] = {"all": "all", "fit": "fit"}
    if depth in names:
        return names[depth]
    if not depth.isdecimal():
        raise UsageError(
            f"--depth must be a number from 0 up, all or fit, got {depth!r} (0 draws the net as one "
            "box, all draws every op, fit draws what fits on a screen)"
        )
    return int(depth)
