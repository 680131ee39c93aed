"""An assertion for tests that two nets have the same gradients; its message says where they differ."""

import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from explorer.api.functions import Net, explore, nets
from explorer.api.mends import mend as mend_net
from explorer.api.results import Exploration
from explorer.model.arrays import unpack
from explorer.model.errors import ExplorerError, UsageError
from explorer.model.report import CaseReport, Report
from explorer.numeric.differences import elementwise_difference, real_parts
from explorer.pytest_plugin import REPORTS
from explorer.report.diff import diff_lines
from explorer.report.files import prepare_folder
from explorer.report.scenario.case_rows import Footnotes, row_among
from explorer.report.scenario.graphs import last_graph
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.text.messages import shortened
from explorer.words.answers import why_left_out
from explorer.words.cases import SEPARATOR, figure
from explorer.words.findings import sentence as finding_sentence
from explorer.words.headlines import headline
from explorer.words.sweeps import not_run
from explorer.workers.workers import REQUEST_SECONDS

CURRENT_TEST = "PYTEST_CURRENT_TEST"
"""The variable in which pytest puts the name of the running test."""

LINE = 500
"""The greatest number of characters of a line of the message."""

MOST_TENSORS = 5
"""The greatest number of differing tensors that are named for a case."""

MOST_CASES = 5
"""The greatest number of cases that a message lists."""


def assert_same_gradients(
    net: Net | None = None,
    *,
    mindspore: str = "",
    torch: str = "",
    mindspore_arguments: Mapping[str, Any] | None = None,
    torch_arguments: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | str | Path | None = None,
    parameters: Mapping[str, Any] | str | Path | None = None,
    engines: tuple[str, ...] | None = None,
    cases: str = "main",
    order: int = 1,
    device: str = "cpu",
    oracle: bool = True,
    mend: bool = False,
    fresh: bool = False,
    timeout: float = math.inf,
    request_timeout: float = REQUEST_SECONDS,
    **declarations: Any,
) -> Exploration:
    """Assert that a net has the same gradients in every engine, up to rounding.

    Give a ``net`` as for explore(), or the arguments of nets(). By default the gradients with respect
    to every input and weight are compared; ``cases`` "structure" and "all" compare more. Without
    ``oracle`` the engines are compared with each other alone. With ``mend`` a failure ends with the patch
    of the port that makes both nets give the same, where one is found: seconds, or a minute or two.
    Differences that the scenario expects, with their reasons, do not fail. Returns the exploration.

    Raises AssertionError, whose message has the cases that differ, the first divergence and the lines
    of both nets; UsageError for wrong arguments, MissingFrameworkError and TimeLimitError.
    """
    __tracebackhide__ = True
    arguments = {
        "mindspore_arguments": mindspore_arguments,
        "torch_arguments": torch_arguments,
        **declarations,
    }
    limits: dict[str, Any] = {
        "device": device,
        "fresh": fresh,
        "timeout": timeout,
        "request_timeout": request_timeout,
    }
    try:
        chosen = _chosen(net, mindspore, torch, inputs, parameters, _without_none(arguments))
        explored = explore(
            chosen,
            engines=engines,
            cases=cases,
            order=order,
            oracle=oracle,
            **limits,
        )
    except ExplorerError as error:
        # pytest shows the line of the test and the message; frames of ours would hide both.
        raise error.with_traceback(None) from None
    if _is_same(explored):
        return explored
    patch = _patch(chosen, engines, limits) if mend else ""
    parts = (message(explored), _report_written(explored), patch)
    raise AssertionError("\n".join(filter(None, parts)))


def _patch(net: Net, engines: tuple[str, ...] | None, limits: Mapping[str, Any]) -> str:
    """The patch of the two engines that are compared, or else of the tapes; or why there is none."""
    pair = engines if engines and len(engines) == 2 else ()
    try:
        return str(mend_net(net, *pair, **limits))
    except ExplorerError as error:
        return str(error)


def _without_none(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _chosen(
    net: Net | None,
    mindspore: str,
    torch: str,
    inputs: Mapping[str, Any] | str | Path | None,
    parameters: Mapping[str, Any] | str | Path | None,
    declarations: Mapping[str, Any],
) -> Net:
    """The net that is meant: one that is given, or two of one's own package."""
    of_own = bool(mindspore or torch or inputs or parameters or declarations)
    if net is not None and of_own:
        text = _(
            "give either a net, or the arguments that describe your own nets (mindspore, torch,"
            " inputs, parameters, declarations), not both"
        )
        raise UsageError(text)
    if net is not None:
        return net
    if inputs is None:
        raise UsageError(
            _("inputs is missing; give arrays by name, or the path of a file with them")
        )
    return nets(
        mindspore=mindspore, torch=torch, inputs=inputs, parameters=parameters, **declarations
    )


def _is_same(explored: Exploration) -> bool:
    """Whether all cases have a result, and none is unexpected."""
    report = explored.report
    if any(_not_run(report)):
        return False
    return explored.is_as_expected and all(_is_answered(case) for case in report.cases)


def _is_answered(case: CaseReport) -> bool:
    # "All raise, as expected" is right in a matrix, but gives no gradient to compare.
    return case.verdict != "not_compared" and any(
        result.outcome == "ok" for result in case.results.values()
    )


def message(explored: Exploration) -> str:
    """The message of a failed assertion: which cases differ, and where the graphs first differ."""
    report = explored.report
    head = _("the gradients of {scenario} differ: {summary}")
    if report.is_as_expected:
        head = _("the gradients of {scenario} were not all compared: {summary}")
    elif _is_refuted_alone(report):
        head = _(
            "all engines agree on the gradients of {scenario}, and central differences contradict"
            " them; a backward written by hand that is meant to give something else needs"
            " EXPECTED_DIFFERENCES, or oracle=False: {summary}"
        )
    lines = [head.format(scenario=report.scenario, summary=explored.summary)]
    alarms = [finding for finding in report.findings if finding.is_alarm]
    lines += [f"  {finding_sentence(finding)}" for finding in alarms]
    lines += _not_run(report)
    lines += _different_cases(report)
    lines += _first_divergence(report)
    return "\n".join(shortened(line, LINE) if len(line) > LINE else clean(line) for line in lines)


def _is_refuted_alone(report: Report) -> bool:
    """Whether engines agree in all cases, and only the oracle contradicts them."""
    unexpected = [case for case in report.cases if not case.expected]
    are_alike = all(
        case.verdict in ("match", "close") and case.oracle_agrees is False for case in unexpected
    )
    diverge = any(it.divergence and not it.expected for it in report.alignments)
    is_alarm = any(finding.is_alarm for finding in report.findings)
    return are_alike and not (diverge or is_alarm or any(_not_run(report)))


def _not_run(report: Report) -> Iterator[str]:
    """How many cases were not reached, and why."""
    for left_out in report.left_out:
        if left_out.cause != "selected":
            yield f"  {not_run(len(left_out.cases), why_left_out(left_out))}"


def _different_cases(report: Report) -> Iterator[str]:
    """The first cases that differ or have no result: who differs from whom, where, and by how much."""
    different = [case for case in report.cases if not case.expected or not _is_answered(case)]
    footnotes = Footnotes()
    for case in different[:MOST_CASES]:
        yield f"  {case.case.short}: {headline(case)}"
        if case.verdict in ("match", "close"):
            continue  # its differences are rounding
        if case.greatest and case.greatest.what == "value":
            tensors = by_tensor(case)
            if tensors:
                yield f"    {tensors}"
            continue
        for statement in row_among(case, footnotes).statements:
            yield f"    {statement.who} {statement.text}"
    if len(different) > MOST_CASES:
        more = len(different) - MOST_CASES
        text = _("and 1 more case") if more == 1 else _("and {n} more cases")
        yield f"  {text.format(n=more)}"


def leaf_differences(case: CaseReport) -> list[tuple[str, float]]:
    """The tensors in which the two engines of a case's greatest difference differ, the greatest first.

    Each with its greatest difference. Tensors that depend on random numbers are left out, and those of
    different shapes or dtypes.
    """
    difference = case.greatest
    if difference is None or difference.what != "value":
        return []
    one, other = (case.results[engine] for engine in difference.engines)
    by_name = {leaf.name: leaf.value for leaf in other.leaves}
    differences = []
    for leaf in one.leaves:
        value, another = leaf.value, by_name.get(leaf.name)
        if another is None or leaf.name in case.drawn:
            continue
        left, right = (real_parts(unpack(array)) for array in (value, another))
        if (left.shape, left.dtype) == (right.shape, right.dtype) and left.dtype.kind == "f":
            apart = elementwise_difference(left.astype(float), right.astype(float))
            differences.append((leaf.name, float(apart.max(initial=0.0))))
    found = [(name, greatest) for name, greatest in differences if greatest]
    return sorted(found, key=lambda it: it[1], reverse=True)


def by_tensor(report: CaseReport) -> str:
    """The tensors that differ most, by the share of their values; "" of a single one."""
    differences = leaf_differences(report)
    if len(differences) < 2:
        return ""
    parts = [clean(f"{name} {figure(greatest)}") for name, greatest in differences[:MOST_TENSORS]]
    text = _("greatest by tensor: {tensors}")
    if len(differences) > MOST_TENSORS:
        text = _("greatest by tensor: {tensors}, … ({n} tensors in all)")
    return text.format(tensors=_(SEPARATOR).join(parts), n=len(differences))


def _first_divergence(report: Report) -> Iterator[str]:
    """The first unexpected divergence, with the op, the value and the line of each side."""
    for alignment in report.alignments:
        left = last_graph(report, alignment.left)
        right = last_graph(report, alignment.right)
        if alignment.divergence and not alignment.expected and left and right:
            _case, *lines = diff_lines(alignment, left, right)
            for line in lines:
                yield f"  {line}"
            return


def _report_written(explored: Exploration) -> str:
    """The place of the report on a failed assertion; "" if none was requested."""
    folder = os.environ.get(REPORTS)
    if not folder:
        return ""
    test = os.environ.get(CURRENT_TEST, explored.report.scenario).split(" ")[0]
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", test.rpartition("/")[2]).strip("-.")
    path = explored.save(prepare_folder(Path(folder)) / f"{name or 'report'}.html")
    return _("full report: {path}").format(path=path)
