"""A small report made by hand, with one case of every kind, for the tests of the report's faces."""

from functools import cache

import numpy as np

from explorer.compare.verdicts import judge
from explorer.model.alignment import Alignment, Coverage, Divergence
from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.graph import Edge, GradGraph, Node, Output
from explorer.model.report import CaseReport, Report
from explorer.model.results import Estimate, Failure, Leaf, OracleResult, Result
from explorer.model.trees import names_in, render
from explorer.numeric.summaries import summarise
from explorer.scenario.contract import ExpectedDifference
from explorer.scenario.matrix import matrix, structure

HOSTILE = "<script>alert('x')</script> | [red]\x1b[31m\u202e"
"""A text that would harm each face that did not escape it."""

VALUES = {
    "dx": np.array([[4, 6, 8]], np.float32),
    "dy": np.array(-2, np.float32),
    "dfc.weight": np.array([[2.0, 4.0, 6.000001]], np.float32),
    "loss": np.array(1, np.float32),
    "logits": np.array(20, np.float32),
}
NAMES = {"inputs": ("x", "y"), "parameters": ("fc.weight",), "outputs": ("loss", "logits")}
MESSAGE = "grad_position and weights can not be None at the same time"


def result(case: GradCase, factor: float = 1.0) -> Result:
    """The answer to a case, every leaf times ``factor``; the error where nothing is asked for."""
    if case.must_fail and case.api != "GradOperation":
        return Result(outcome="raised", error=Failure("ValueError", MESSAGE))
    tree = structure(case, **NAMES)
    leaves = tuple(
        Leaf(name, pack(np.asarray(VALUES[name] * np.float32(factor)))) for name in names_in(tree)
    )
    return Result(
        outcome="ok",
        structure=render(tree),
        leaves=leaves,
        natural=render(tree),
        ids=("0",),
        code="ms.grad(net)",
    )


def case_report(
    case: GradCase,
    *,
    wrong: str = "",
    factor: float = 1.001,
    expected: tuple[ExpectedDifference, ...] = (),
) -> CaseReport:
    """All engines answering a case, the one called ``wrong`` (or of that style) with every leaf
    times ``factor``.
    """
    results = {
        name: result(case, factor if wrong in (name, engine.style) else 1.0)
        for name, engine in ENGINES.items()
    }
    if case.weights == "all":
        results["torch-graph"] = Result(
            outcome="unsupported", error=Failure("DataDependent", HOSTILE)
        )
    gradients = [leaf for leaf in results["mindspore-graph"].leaves if leaf.name.startswith("d")]
    estimates = tuple(
        Estimate(leaf.name, pack(np.asarray(VALUES[leaf.name], np.float64))) for leaf in gradients
    )
    return judge(case, results, OracleResult("ok" if estimates else "raised", estimates), expected)


def graph(engine: str) -> GradGraph:
    """A graph of four nodes: y = x * x, and its gradient."""
    held = (Output((1, 3), "float32", summarise(VALUES["dx"])),)
    return GradGraph(
        engine=engine,
        case="grad(net, grad_position=0, weights=None, has_aux=False)",
        stage="tape",
        nodes=(
            Node(id="n0", op="input", kind="input", phase="forward", name="x", outputs=held),
            Node(
                id="n1",
                op="Mul",
                kind="op",
                phase="forward",
                scope="fc",
                source=("net.py:3",),
                order=1,
                outputs=held,
            ),
            Node(
                id="n2",
                op="MulBackward",
                kind="op",
                phase="backward",
                forward="n1",
                order=2,
                outputs=held,
            ),
            Node(
                id="n3",
                op="output",
                kind="output",
                phase="backward",
                name="dx",
                order=3,
                outputs=held,
            ),
        ),
        edges=(Edge("n0", "n1"), Edge("n0", "n2", kind="saved"), Edge("n2", "n3")),
    )


def alignment(left: str, right: str, divergence: bool = False) -> Alignment:
    """Two of those graphs side by side."""
    found = Divergence(
        left="n2",
        right="n2",
        phase="backward",
        sentence="MulBackward differs from MulBackward at fc",
        left_source="net.py:3",
        right_source="net.py:3",
        left_value="4",
        right_value="4.004",
        greatest=0.004,
    )
    whole = Coverage(forward=1, forward_total=1, backward=1, backward_total=1)
    return Alignment(
        left=left,
        right=right,
        case=graph(left).case,
        pairs=(),
        unpaired=(),
        divergence=found if divergence else None,
        differing=("dx",) if divergence else (),
        left_coverage=whole,
        right_coverage=whole,
    )


@cache
def report(
    *,
    unexpected: bool = False,
    foreseen: bool = True,
    title: str = "Dense layer with mean squared error",
) -> Report:
    """The full matrix of a net with two inputs; ``foreseen`` sets tape against graph at 1,
    ``unexpected`` torch-graph at (0,).
    """
    expected = (ExpectedDifference(("tape",), "the tape sees one tensor under two names"),)
    cases = []
    for case in matrix(2, has_parameters=True):
        if unexpected and case.grad_position == (0,):
            cases.append(case_report(case, wrong="torch-graph"))
        elif foreseen and case.grad_position == 1:
            cases.append(case_report(case, wrong="tape", factor=2.0, expected=expected))
        else:
            cases.append(case_report(case))
    return Report(
        scenario="dense_mse",
        title=title,
        notes="Two outputs, loss and logits.",
        versions={"mindspore": "2.10.0", "torch": "2.13.0"},
        devices=dict.fromkeys(ENGINES, "cpu"),
        inputs=(Leaf("x", pack(VALUES["dx"])),),
        parameters=(Leaf("fc.weight", pack(VALUES["dfc.weight"])),),
        cases=tuple(cases),
        graphs=tuple(graph(name) for name in ("mindspore-graph", "torch-tape")),
        ungraphed={"torch-graph": f"control flow on values {HOSTILE}"},
        alignments=(alignment("mindspore-graph", "torch-tape"),),
    )
