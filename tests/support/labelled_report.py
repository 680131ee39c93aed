"""A report, a board and a study with one label wherever a scenario or a framework can put a text."""

from functools import cache

import msgspec
import numpy as np

from explorer.compare.align import align
from explorer.model.alignment import Alignment, Recorded
from explorer.model.arrays import pack
from explorer.model.claim import Board
from explorer.model.divergence import OtherValue, Place, Row
from explorer.model.failures import Failure
from explorer.model.findings import LoneStart, ReportFinding
from explorer.model.graph import Absence, GradGraph, Layer, Node
from explorer.model.measurement import Measured
from explorer.model.report import CaseReport, Report, Ungraphed
from explorer.model.results import Leaf, Result, ResultNote
from explorer.model.study import Chart, Series, StudyRecord, Table
from tests.support.deep_nets import SPOILED, deep_report
from tests.support.sample_board import BOARD
from tests.support.sample_report import report

LARGE = pack(np.arange(100, dtype=np.float32).reshape(10, 10))


@cache
def labelled_report(label: str) -> Report:
    """The sample report, on two nets that part, with a label in every text that is not our own."""
    deep = deep_report(1, SPOILED)
    graphs = tuple(_labelled_graph(graph, label) for graph in deep.graphs)
    alignment = _labelled_alignment(align(graphs[0], graphs[-1]), label)
    whole = report(unexpected=True)
    return msgspec.structs.replace(
        whole,
        title=label,
        notes=label,
        versions={label: label, **whole.versions},
        devices=dict.fromkeys(whole.devices, label),
        cases=tuple(_labelled_case(case, label) for case in whole.cases),
        graphs=graphs,
        ungraphed={"torch-graph": Ungraphed(Failure(label, label))},
        alignments=(alignment,),
        findings=(ReportFinding(fact=LoneStart(label, "torch"), names=(label,), reason=label),),
    )


def _labelled_graph(graph: GradGraph, label: str) -> GradGraph:
    nodes = [_labelled_node(node, label) for node in graph.nodes]
    case = report().cases[0].case.label
    layers = {label: Layer(label, {label: label})}
    return msgspec.structs.replace(graph, nodes=tuple(nodes), case=case, layers=layers)


def _labelled_node(node: Node, label: str) -> Node:
    return msgspec.structs.replace(
        node,
        name=f"{label} {node.id}",
        scope=label if node.scope else "",
        source=(label,),
        tape=label,
        body=label,
        arguments={label: label, "pairs": ((label, 1), label)},
        missing={
            "proof": Absence("raises_alone", error=Failure(label, label)),
            "values": Absence("removed", label),
            "arguments": Absence("long_argument", label),
        },
    )


def _labelled_alignment(alignment: Alignment, label: str) -> Alignment:
    first, *others = alignment.seen
    assert isinstance(first.divergence, OtherValue)
    # What stands between backticks of a sentence: no label ends them.
    place = Place(label=label, scope=label, source=label, caller=label)
    row = Row(first=place, last=label, count=2)
    divergence = msgspec.structs.replace(first.divergence, rows=(row, row))
    return msgspec.structs.replace(
        alignment,
        seen=(msgspec.structs.replace(first, divergence=divergence), *others),
        unpaired=tuple(
            msgspec.structs.replace(unpaired, why=Recorded(Absence("removed", label)))
            for unpaired in alignment.unpaired
        ),
        drawn=(label,),
    )


def _labelled_case(case: CaseReport, label: str) -> CaseReport:
    results = {name: _labelled_result(result, label) for name, result in case.results.items()}
    greatest = case.greatest
    if greatest:
        greatest = msgspec.structs.replace(greatest, leaf=label, detail=label)
    return msgspec.structs.replace(
        case, results=results, greatest=greatest, reason=label, drawn=(label,)
    )


def _labelled_result(result: Result, label: str) -> Result:
    if result.error:
        error = Failure(label, label, label)
        return msgspec.structs.replace(
            result,
            error=error,
            note=ResultNote("ids_raise", error=Failure(label, label)),
            code=label,
        )
    # Every leaf has the label as its name but the first, which is large enough for a heat map.
    leaves = tuple(Leaf(f"{label} {place}", leaf.value) for place, leaf in enumerate(result.leaves))
    first = Leaf(label, LARGE)
    return msgspec.structs.replace(
        result,
        leaves=(first, *leaves[1:]),
        note=ResultNote("ids_raise", error=Failure(label, label)),
        code=label,
        natural=label,
    )


def labelled_board(label: str) -> Board:
    """The sample board with a label in every text."""
    rows = tuple(
        msgspec.structs.replace(
            row, statement=label, would=label, not_run={label: Failure(label, label)}, advice=label
        )
        for row in BOARD.rows
    )
    return msgspec.structs.replace(BOARD, rows=rows, versions={label: label})


def labelled_study(label: str) -> StudyRecord:
    """A study with a table, a chart, and what failed, with a label in every text."""
    table = Table(title=label, columns=(label, "b"), rows=((label, 1.0),), note=label)
    series = Series(label, (1.0, 2.0), (1.0, 2.0))
    chart = Chart(name="chart", title=label, kind="line", x=label, y=label, series=(series,))
    failed = Measured(outcome="raised", error=Failure(label, label), date="2026-01-01")
    return StudyRecord(
        study="s",
        title=label,
        question=label,
        scenario=label,
        device="cpu",
        versions={label: label},
        measured={label: failed},
        findings=tuple([label] * 12),
        tables=(table,),
        charts=(chart,),
    )
