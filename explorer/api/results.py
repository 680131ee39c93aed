"""The results of the API: records that display in a notebook and print in a terminal."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from rich.console import Console

from explorer import drawing
from explorer.api import notebook
from explorer.api.causes import FoundCause, Known
from explorer.api.trainings import TrainingsDifference
from explorer.blocks.html import image
from explorer.blocks.terminal import show
from explorer.drawing.formats import FORMATS, FormatName
from explorer.drawing.views import ViewName
from explorer.exploration.recordings import compared, names_of, report_at, report_on, with_trace
from explorer.model.alignment import Alignment
from explorer.model.arrays import unpack
from explorer.model.causes import Attempts
from explorer.model.claim import Board
from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph
from explorer.model.message import Text
from explorer.model.report import CaseReport, Report
from explorer.model.study import StudyRecord
from explorer.model.trace import Start, Trace
from explorer.model.training import Training
from explorer.pair.alignments import reported
from explorer.pair.page import two_panes
from explorer.recording.starts import check_whole, held
from explorer.report.claims.pages import board_blocks
from explorer.report.claims.wording import counts
from explorer.report.diff import (
    absence_lines,
    agreement_lines,
    case_of,
    comparison_lines,
    do_answer_apart,
    unaligned,
)
from explorer.report.files import put_file
from explorer.report.losses import losses_of, training_lines
from explorer.report.scenario.export import PictureChoice, each_alone, picture_file
from explorer.report.scenario.files import draw_ladder, report_files
from explorer.report.scenario.graphs import at_stage, graphs_of
from explorer.report.scenario.page import report_blocks
from explorer.report.study import study_blocks
from explorer.report.traces import trace_lines
from explorer.text.clean import clean
from explorer.text.language import _, named
from explorer.text.numbers import counted
from explorer.words import cases
from explorer.words.causes import cause
from explorer.words.coverage import contradictions
from explorer.words.divergences import first_divergence
from explorer.words.headlines import headline
from explorer.words.known import known_line
from explorer.words.messages import study_text
from explorer.workers.workers import Workers

WIDTH = 120
"""The default width of a text, in columns."""

Bundle = dict[str, Any]
"""What a notebook shows, by MIME type: it takes the richest that it can."""


class Picture(msgspec.Struct, frozen=True):
    """One file with a gradient graph, or two; ``description`` is its text for who cannot see it.

    ``graphs`` are those that it shows, ``alignments`` their pairs, and ``prefix`` begins the
    ids of an SVG. ``code`` are the folders and packages whose lines a notebook shows.
    """

    content: bytes
    choice: PictureChoice
    description: str
    graphs: tuple[GradGraph, ...]
    alignments: tuple[Alignment, ...]
    prefix: str = ""
    code: tuple[Path, ...] = ()

    def each(self) -> tuple[bytes, ...]:
        """The graphs as SVGs of their own, which a narrow page can set one below the other."""
        return each_alone(self.graphs, self.alignments, self.choice, self.prefix)

    def save(self, path: str | Path) -> Path:
        """Write the file, whole or not at all.

        Raises UsageError where that cannot be, and for a name that ends as another format does.
        """
        _check_ending(path, FORMATS[self.choice.file_format].ending)
        return put_file(Path(path), self.content)

    @property
    def text(self) -> str:
        """The file as text; UsageError of a PNG."""
        if self.choice.file_format == "png":
            raise UsageError(
                _("a PNG picture has no text; use .content for its bytes, or another format")
            )
        return self.content.decode()

    def __repr__(self) -> str:
        return f"<Picture: {self.description}>"

    def __str__(self) -> str:
        return self.description

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Bundle:
        bundle: Bundle = {"text/plain": self.description}
        if self.choice.file_format in ("svg", "png"):
            kind = self.choice.file_format
            still = image(self.content, kind, self.description)
            bundle["text/html"] = two_panes(self.graphs, self.alignments, self.code, still)
        return bundle


class Difference(msgspec.Struct, frozen=True):
    """The gradient graphs of two engines side by side, and where they differ."""

    report: Report
    alignment: Alignment
    code: tuple[Path, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether the two agree in every result and node, without an unproven step."""
        return self.alignment.is_same and not do_answer_apart(self.alignment, self._case)

    @property
    def _case(self) -> CaseReport | None:
        return case_of(self.report, self.alignment)

    def explain(self) -> str:
        """Where the graphs first differ, why, and what is known of it; or how far they agree.

        Without the graph of an engine: how far the results agree, and why there is none.
        """
        alignment = self.alignment
        if alignment.missing:
            lines = [headline(self._case)] if self._case else []
            lines += absence_lines(self.report, (alignment.left, alignment.right))
            return clean(_("; ").join(lines))
        if alignment.divergence:
            said = clean(first_divergence(alignment))
            for why in filter(None, (cause(alignment), known_line(alignment.plain[0].known))):
                said = _("{what}. {why}").format(what=said, why=clean(why))
            return said
        if alignment.drawn or alignment.altered or do_answer_apart(alignment, self._case):
            return clean(_("; ").join(agreement_lines(alignment, self._case)))
        if alignment.contradictions:
            return contradictions(alignment)
        return _(notebook.AGREEMENT).format(left=alignment.left, right=alignment.right)

    @property
    def causes(self) -> tuple[FoundCause | None, ...]:
        """The cause of each divergence, the first one's first; None where nothing tried explains it.

        Those of the divergences that are seen as if these were mended follow.
        """
        engines = self.alignment.left, self.alignment.right
        return tuple(
            FoundCause(one.cause, one.divergence.ends, engines) if one.cause else None
            for one in self.alignment.seen
        )

    @property
    def known(self) -> tuple[tuple[Known, ...], ...]:
        """The claims and surprises that are about each divergence, in the order of the causes."""
        return tuple(tuple(map(Known, one.known)) for one in self.alignment.seen)

    @property
    def attempts(self) -> tuple[Attempts | None, ...]:
        """What was tried at each divergence, in the same order; None where nothing could be."""
        return tuple(one.attempts for one in self.alignment.plain)

    def graph(self, *, format: FormatName = "svg", prefix: str = "") -> Picture:
        """Both graphs side by side; nodes that hold the same quantity carry the same number."""
        engines = (self.alignment.left, self.alignment.right)
        return Exploration(self.report, self.code).graph(*engines, format=format, prefix=prefix)

    def __repr__(self) -> str:
        return f"<Difference: {self.explain()}>"

    def __str__(self) -> str:
        engines = self.alignment.left, self.alignment.right
        cases = (self._case,) if self._case else ()
        report = msgspec.structs.replace(self.report, alignments=(self.alignment,), cases=cases)
        return "\n".join(map(clean, comparison_lines(report, engines)))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Bundle:
        if self.alignment.missing:
            return {"text/plain": str(self), "text/html": notebook.plain_text(str(self))}
        shown = self.graph()._repr_mimebundle_()["text/html"]
        return {
            "text/plain": str(self),
            "text/html": notebook.plain_text(str(self)) + shown,
        }


class Exploration(msgspec.Struct, frozen=True):
    """The answers of the engines to every case of a net, compared; ``report`` has all of it.

    ``code`` are the folders and packages whose lines a page shows beside the nodes.
    """

    report: Report
    code: tuple[Path, ...] = ()

    @property
    def is_as_expected(self) -> bool:
        """Whether there are no differences except those that the scenario expects."""
        return self.report.is_as_expected

    @property
    def summary(self) -> str:
        """The verdicts in counts, in a line."""
        return cases.summary(self.report)

    def diff(self, left: str = "torch-tape", right: str = "mindspore-graph") -> Difference:
        """Where the graphs of two engines first differ; UsageError if one of them was not run.

        Of one that was run and gave no graph, its result alone is compared.
        """
        without = unaligned(self.report, (left, right))
        if without and self.report.ungraphed.keys() >= set(without.missing):
            return Difference(self.report, without, self.code)
        graphs = graphs_of(self.report, left)[-1], graphs_of(self.report, right)[-1]
        alignment = reported(*graphs, self.report.graphs, self.report.alignments)
        if alignment is not None:
            return Difference(self.report, alignment, self.code)
        raise UsageError(_("{engine!r} is given twice; give two different engines"), engine=left)

    def graph(
        self,
        *engines: str,
        view: ViewName = "ladder",
        depth: drawing.Depth = "fit",
        stage: str | None = None,
        format: FormatName = "svg",
        prefix: str = "",
    ) -> Picture:
        """The gradient graph of an engine as a picture, or of two side by side.

        ``prefix`` begins every id of an SVG, so that several can be in one page.
        """
        graphs, are_last = at_stage(self.report, engines, stage)
        choice = PictureChoice(
            scenario=self.report.scenario,
            engines=engines,
            file_format=format,
            view=view,
            depth=depth,
            stage=stage or "",
        )
        # A pair's number on an earlier stage would be that of another graph's node.
        alignments = self.report.alignments if are_last else ()
        content = picture_file(graphs, alignments, choice, prefix)
        described = notebook.description(self.report, graphs)
        return Picture(content, choice, described, tuple(graphs), alignments, prefix, self.code)

    def html(self) -> str:
        """The whole report as one HTML page that needs nothing else."""
        ((_, make),) = report_files(self.report, ("html",), draw_ladder, self.code)
        return make().decode()

    def save(self, path: str | Path) -> Path:
        """Write html() to a file, whole or not at all.

        Raises UsageError where that cannot be, and for a name that does not end in .html.
        """
        _check_ending(path, ".html", ".htm")
        return put_file(Path(path), self.html().encode())

    def __repr__(self) -> str:
        return f"<Exploration of {clean(self.report.scenario)}: {self.summary}>"

    def __str__(self) -> str:
        return _printed(lambda console: show(report_blocks(self.report), console))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Bundle:
        return {
            "text/plain": str(self),
            "text/html": notebook.exploration(self.report, self.code),
        }


class RecordedStart(msgspec.Struct, frozen=True):
    """The parameters and buffers that a recorded step or training started from, read from ``path``.

    Names and layouts are PyTorch's. In a program, ``explorer.start`` gives them to a net.
    """

    tensors: tuple[Start, ...]
    path: Path

    def save(self, path: str | Path) -> Path:
        """Write all values to an .npz file; UsageError where an excerpt is all that was recorded."""
        _check_ending(path, ".npz")
        check_whole(self.tensors, self.path)
        content = io.BytesIO()
        np.savez(content, **{one.name: unpack(one.value) for one in self.tensors})
        return put_file(Path(path), content.getvalue())

    def __repr__(self) -> str:
        return f"<RecordedStart: {clean(named([one.name for one in self.tensors]))}>"


class Recorded(msgspec.Struct, frozen=True):
    """The trace of one step of a program, read from the file ``path``; ``trace`` has all of it."""

    trace: Trace
    path: Path

    @property
    def name(self) -> str:
        """The name of the file, without its ending."""
        return names_of([self.path])[0]

    @property
    def start(self) -> RecordedStart:
        """What it started from; UsageError where that was not recorded."""
        return RecordedStart(held(self.trace), self.path)

    def diff(self, other: "Recorded") -> Difference:
        """Where the graphs of two traces first differ; UsageError if one of them has none.

        A trace cannot be run again, but its ops are, from what it has whole: where their framework is
        found, causes are looked for that way.
        """
        left, right = names_of([self.path, other.path])
        with Workers() as workers:
            report = report_on({left: self.trace, right: other.trace}, workers)
        return Difference(report, report.alignments[0])

    def beside(self, exploration: Exploration, engine: str = "torch-tape") -> Difference:
        """Where the trace's graph and that of an engine of an exploration first differ.

        Raises UsageError if one of them has none.
        """
        graphs_of(exploration.report, engine)
        with Workers() as workers:
            report = with_trace(exploration.report, self.trace, self.name, engine, workers)
        return Difference(report, report.alignments[0], exploration.code)

    def graph(
        self,
        *,
        view: ViewName = "ladder",
        depth: drawing.Depth = "fit",
        format: FormatName = "svg",
        prefix: str = "",
    ) -> Picture:
        """The trace's gradient graph as a picture; UsageError if it has none."""
        report = report_on({self.name: self.trace})
        (engine,) = (graph.engine for graph in report.graphs)
        return Exploration(report).graph(
            engine, view=view, depth=depth, format=format, prefix=prefix
        )

    def __repr__(self) -> str:
        return f"<Recorded: {clean(self.name)}>"

    def __str__(self) -> str:
        return "\n".join(map(clean, trace_lines(self.trace, self.name)))


class RecordedTraining(msgspec.Struct, frozen=True):
    """Steps of a training, read from the file ``path``; ``training`` has all of them."""

    training: Training
    path: Path

    @property
    def name(self) -> str:
        """The name of the file, without its ending."""
        return names_of([self.path])[0]

    @property
    def start(self) -> RecordedStart:
        """What it started from; UsageError where that was not recorded."""
        return RecordedStart(held(self.training), self.path)

    @property
    def losses(self) -> dict[int, float | None]:
        """The loss of each step by its number; None where it is not known."""
        return losses_of(self.training)

    def diff(self, other: "RecordedTraining") -> TrainingsDifference:
        """Where two trainings first differ; UsageError where they have no step in common."""
        left, right = (
            msgspec.structs.replace(one.training, name=name)
            for one, name in zip((self, other), names_of([self.path, other.path]), strict=True)
        )
        comparison = compared(left, right)
        with Workers() as workers:
            graphs = report_at(left, right, comparison, workers)
        return TrainingsDifference(comparison, graphs)

    def __repr__(self) -> str:
        return f"<RecordedTraining: {clean(self.name)}>"

    def __str__(self) -> str:
        return "\n".join(map(clean, training_lines(self.training, self.name)))


class Study(msgspec.Struct, frozen=True):
    """A study's findings, tables and charts; ``record`` has all of it."""

    record: StudyRecord[Text]

    @property
    def findings(self) -> tuple[str, ...]:
        """What was found, a sentence each."""
        return study_text(self.record).findings

    def __repr__(self) -> str:
        return f"<Study {self.record.study}: {counted(len(self.findings), 'finding')}>"

    def __str__(self) -> str:
        return _printed(lambda console: show(study_blocks(self.record), console))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Bundle:
        return {"text/plain": str(self), "text/html": notebook.study(study_text(self.record))}


class Claims(msgspec.Struct, frozen=True):
    """Claims with their verdicts on the installed versions; ``board`` has all of it."""

    board: Board

    def __repr__(self) -> str:
        return f"<Claims: {counts(self.board)}>"

    def __str__(self) -> str:
        return _printed(lambda console: show(board_blocks(self.board), console))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Bundle:
        return {"text/plain": str(self), "text/html": notebook.claims(self.board)}


def _check_ending(path: str | Path, *endings: str) -> None:
    """Raise UsageError unless a file's name ends as its content demands."""
    if Path(path).suffix.lower() not in endings:
        text = _(
            "{file!r} must end in {endings}, the format of the content; change the name, or"
            " choose another format"
        )
        raise UsageError(text, file=str(path), endings=_(" or ").join(endings))


def _printed(show: Callable[[Console], None]) -> str:
    """What a terminal would show, as text."""
    text = io.StringIO()
    # In a notebook, rich would show every line as an output of its own.
    plain = Console(
        file=text, width=WIDTH, markup=False, highlight=False, emoji=False, force_jupyter=False
    )
    show(plain)
    return text.getvalue().rstrip("\n")
