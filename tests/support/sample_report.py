"""A small report made by hand, with one case of every kind, for the tests of the report's faces."""

from functools import cache
from typing import Any

import msgspec
import numpy as np

from explorer.compare.results.verdicts import judge
from explorer.model.alignment import Alignment, Count, Coverage, Seen
from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.divergence import (
    ABSENT,
    Divergence,
    End,
    ExtraOps,
    Gap,
    Inputs,
    OtherStart,
    OtherValue,
    Place,
    Reading,
    Row,
)
from explorer.model.failures import Failure
from explorer.model.graph import GradGraph
from explorer.model.report import CaseReport, Report, Ungraphed
from explorer.model.results import Estimate, Leaf, OracleResult, Result
from explorer.model.trees import branch, names_in, render
from explorer.scenario.declaration import ExpectedDifference
from explorer.scenario.matrix import matrix, structure
from tests.support.handmade_graph import HandmadeGraph
from tests.support.standard_engines import ENGINES

HOSTILE = "<script>alert('x')</script> | [red]\x1b[31m\u202e"
"""A text that would harm each face that did not escape it."""

VALUES = {
    "dx": np.array([[4, 6, 8]], np.float32),
    "dy": np.array(-2, np.float32),
    "dfc.weight": np.array([[2.0, 4.0, 6.000001]], np.float32),
    "loss": np.array(1, np.float32),
    "logits": np.array(20, np.float32),
}
INPUTS, PARAMETERS, OUTPUTS = ("x", "y"), ("fc.weight",), ("loss", "logits")
MESSAGE = "grad_position and weights can not be None at the same time"


def answer(case: GradCase, factor: float = 1.0) -> Result:
    """The answer to a case, every leaf times ``factor``; the error where nothing is asked for."""
    if case.must_fail and case.api != "GradOperation":
        return Result(outcome="raised", error=Failure("ValueError", MESSAGE))
    tree = structure(case, INPUTS, PARAMETERS, branch(*OUTPUTS))
    leaves = []
    for name in names_in(tree):
        value = np.asarray(VALUES[name] * np.float32(factor))
        leaves.append(Leaf(name, pack(value)))
    return Result(
        outcome="ok",
        structure=tree,
        leaves=tuple(leaves),
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
    """All engines answering a case.

    The one called ``wrong``, or those of that style, give every leaf times ``factor``. PyTorch's
    graph cannot answer for all weights.
    """
    results = {}
    for name, engine in ENGINES.items():
        is_wrong = wrong in (name, engine.style)
        results[name] = answer(case, factor if is_wrong else 1.0)
    if case.weights == "all":
        error = Failure("DataDependent", HOSTILE)
        results["torch-graph"] = Result(outcome="unsupported", error=error)

    leaves = results["mindspore-graph"].leaves
    gradients = [leaf.name for leaf in leaves if leaf.name.startswith("d")]
    return judge(case, results, oracle(gradients), expected)


def oracle(gradients: list[str]) -> OracleResult:
    """The oracle's estimates of some gradients: the true values."""
    estimates = []
    for name in gradients:
        value = np.asarray(VALUES[name], np.float64)
        estimates.append(Estimate(name, pack(value)))
    return OracleResult("ok" if estimates else "raised", tuple(estimates))


def graph(engine: str) -> GradGraph:
    """A graph of four nodes: y = x * x, and its gradient."""
    g = HandmadeGraph()
    value = VALUES["dx"]
    x = g.add("input", kind="input", name="x", value=value, line=0)
    product = g.add("Mul", [x], scope="fc", value=value, line=3)
    gradient = g.back("MulBackward", product, [], [x], value=value, line=0)
    fields: dict[str, Any] = {"kind": "output", "phase": "backward", "value": value, "line": 0}
    g.add("output", [gradient], name="dx", **fields)
    return g.record(GradCase("grad", 0).label, engine)


_PRODUCT = Row(
    first=Place(label="MulBackward", scope="fc", source="net.py:3"), last="MulBackward", count=1
)

DIVERGENCE = OtherValue(
    phase="backward",
    ends=(
        End(node="n2", source="net.py:3", value=Reading("element", (), (4.0,))),
        End(node="n2", source="net.py:3", value=Reading("element", (), (4.004,))),
    ),
    gap=Gap(0.004, 1e-6, 4000.0),
    rows=(_PRODUCT, _PRODUCT),
    inputs=Inputs(),
)

FURTHER = OtherStart(
    phase="forward",
    ends=(
        End(node="n0", source="net.py:2", value=Reading("element", (), (7.0,))),
        End(node="n0", source="net.py:2", value=Reading("element", (), (8.0,))),
    ),
    name="x",
)
"""A divergence that the other does not explain."""

ON_THE_LEFT = ExtraOps(
    phase="backward",
    ends=(DIVERGENCE.ends[0], End(node=None, source="", value=ABSENT)),
    side="left",
    row=_PRODUCT,
)
"""A divergence at an op that the left graph alone has."""


def alignment(left: str, right: str, divergence: Divergence | None = None) -> Alignment:
    """Two of those graphs side by side."""
    whole = Coverage(forward=Count(paired=1), backward=Count(paired=1))
    return Alignment(
        left=left,
        right=right,
        case=graph(left).case,
        pairs=(),
        unpaired=(),
        seen=(Seen(divergence),) if divergence else (),
        differing=("dx",) if divergence else (),
        left_coverage=whole,
        right_coverage=whole,
    )


@cache
def report(*, unexpected: bool = False, foreseen: bool = True) -> Report:
    """The full matrix of a net with two inputs.

    ``foreseen`` sets tape against graph at 1, ``unexpected`` torch-graph at (0,).
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
        title="Dense layer with mean squared error",
        notes="Two outputs, loss and logits.",
        versions={"mindspore": "2.10.0", "torch": "2.13.0"},
        devices=dict.fromkeys(ENGINES, "cpu"),
        inputs=(Leaf("x", pack(VALUES["dx"])),),
        parameters=(Leaf("fc.weight", pack(VALUES["dfc.weight"])),),
        cases=tuple(cases),
        graphs=(graph("mindspore-graph"), graph("torch-tape")),
        ungraphed={
            "torch-graph": Ungraphed(Failure("DataDependent", f"control flow on values {HOSTILE}"))
        },
        alignments=(alignment("mindspore-graph", "torch-tape"),),
    )


def with_result(whole: Report, result: Result) -> Report:
    """The report with one case, grad(0), to which every engine gives ``result``."""
    case = whole.cases[6]
    results = dict.fromkeys(case.results, result)
    changed = msgspec.structs.replace(case, results=results, greatest=None)
    return msgspec.structs.replace(whole, cases=(changed,))
