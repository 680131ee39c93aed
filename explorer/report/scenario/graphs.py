"""The graphs that a report holds, by engine and stage."""

from collections.abc import Iterable, Sequence

from explorer.model.errors import ExplorerError, MissingFrameworkError, UsageError
from explorer.model.graph import GradGraph
from explorer.model.report import Report
from explorer.model.results import LOST
from explorer.text.choices import choose
from explorer.text.language import _
from explorer.text.messages import one_line
from explorer.words.graphs import why_no_graph

SHOWN_ENGINES = ("torch-tape", "mindspore-graph")
"""The contrast shown first: what most readers take for PyTorch against MindSpore."""


class NoGraphError(ExplorerError):
    """An engine that could not capture the case asked for.

    The exit code says whether its worker was lost.
    """

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def last_graph(report: Report, engine: str) -> GradGraph | None:
    """The last stage of an engine's graphs; None where it gave none."""
    graphs = [graph for graph in report.graphs if graph.engine == engine]
    return graphs[-1] if graphs else None


def graphs_of(report: Report, engine: str) -> list[GradGraph]:
    """An engine's graphs, last stage last, of a report on one case; raises NoGraphError."""
    graphs = [graph for graph in report.graphs if graph.engine == engine]
    if graphs:
        return graphs
    why = report.ungraphed.get(engine)
    reason = one_line(why_no_graph(why)) if why else _("it gave none")
    case = report.cases[0]
    was_answered = engine not in case.results or case.results[engine].outcome not in LOST
    is_lost = engine in report.lost_graphs or not was_answered
    text = _("{engine} has no graph of {case}: {reason}")
    raise NoGraphError(
        text.format(engine=engine, case=case.case.label, reason=reason),
        MissingFrameworkError.exit_code if is_lost else UsageError.exit_code,
    )


def at_stage(
    report: Report, engines: Sequence[str], stage: str | None
) -> tuple[list[GradGraph], bool]:
    """Each engine's graph at a stage, and whether all of these are the last ones.

    None is the last stage; beside an engine that has the stage, one that has not shows its last.
    Raises UsageError where none has it.
    """
    every_stage = [graphs_of(report, engine) for engine in engines]
    last_graphs = [graphs[-1] for graphs in every_stage]
    if stage is None:
        return last_graphs, True
    stages: list[str] = []
    for graphs in every_stage:
        stages.extend(graph.stage for graph in graphs)
    choose(_("stage of {engines}").format(engines=_(" and ").join(engines)), stage, stages)

    chosen = []
    for graphs in every_stage:
        at_this = [graph for graph in graphs if graph.stage == stage]
        chosen.append(at_this[0] if at_this else graphs[-1])
    return chosen, chosen == last_graphs


def shown_first(graphs: Iterable[GradGraph]) -> list[GradGraph]:
    """The last stages of SHOWN_ENGINES, or of whichever two engines there are; fewer where there are not."""
    last = {graph.engine: graph for graph in graphs}  # stages come in order
    chosen = [last[engine] for engine in SHOWN_ENGINES if engine in last]
    if len(chosen) < len(SHOWN_ENGINES):
        chosen = list(last.values())[: len(SHOWN_ENGINES)]
    return chosen
