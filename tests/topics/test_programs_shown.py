"""The programs on the pages of claims, run as they are shown, print the figures that are recorded."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from explorer.model.engines import WorkerKind
from explorer.model.measurement import Measured
from explorer.report.recorded.results import measurements
from explorer.shipped import PACKAGE
from explorer.topics import claims
from explorer.topics.evidence import flat_numbers
from explorer.workers.environments import worker_environment
from tests.independent.comparison import difference
from tests.support.command_line import python
from tests.topics.shown_programs import Shown, printed_figures, printed_numbers, shown_programs

SECONDS = 1800
"""The limit of all programs of one kind of process together."""

MODULE = re.compile(r"__main__|explorer(?:\.\w+)+")
"""The module of a program, which messages name: a pasted program's is another one."""

NEAR = 1e-4
"""A share of the greatest number: figures of another process differ by rounding."""

WORKERS: dict[str, WorkerKind] = {
    "mindspore": "mindspore",
    "mindspore-capture": "mindspore-capture",
    "mindspore-passes": "mindspore-passes",
    "torch": "torch",
    "keras": "torch",
}
"""The worker whose variables a program of each kind needs."""

Printed = Callable[[Shown], str]


def run_all(kind: str, folder: Path) -> dict[str, str]:
    """What every program of a kind prints, by its code."""
    shown = [program for row in claims() for program in shown_programs(row)]
    codes = dict.fromkeys(program.code for program in shown if program.kind == kind)
    for number, code in enumerate(codes):
        (folder / f"{number:03}.py").write_text(code, encoding="utf-8")

    worker = WORKERS[kind]
    environment = worker_environment(worker, folder)
    environment["PYTHONPATH"] = str(PACKAGE.parent)
    package = "mindspore" if worker.startswith("mindspore") else "torch"
    module = "tests.topics.shown_programs"
    python("-m", module, folder, package, cwd=folder, env=environment, seconds=SECONDS)
    printed: dict[str, str] = {}
    for number, code in enumerate(codes):
        printed[code] = (folder / f"{number:03}.txt").read_text(encoding="utf-8")
    return printed


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    """Gives what a program prints; those of one kind run at once, when the first is needed."""

    @cache
    def of_kind(kind: str) -> dict[str, str]:
        return run_all(kind, tmp_path_factory.mktemp(kind))

    return lambda program: of_kind(program.kind)[program.code]


def nameless(figure: Any) -> Any:
    """A figure with its keys as text, and without the names of modules in messages."""
    if isinstance(figure, dict):
        return {str(key): nameless(value) for key, value in figure.items()}
    if isinstance(figure, list | tuple):
        return [nameless(element) for element in figure]
    return MODULE.sub("a module", figure) if isinstance(figure, str) else figure


def missing(measured: Measured, texts: list[str]) -> str:
    """What is recorded of a measurement and printed by no program; "" where all is there."""
    figures = measured.figures
    if "code" not in figures:
        recorded = nameless(figures)
        found = [nameless(one) for text in texts for one in printed_figures(text)]
        differences = [difference(one, recorded, NEAR) for one in found]
        return min(differences, key=len, default="nothing is printed")
    # The program is an engine's own: it prints tensors, or ends with the error.
    if "raised" in figures:
        is_there = any(figures["raised"] in text for text in texts)
    else:
        # All of them are printed one after another.
        values = flat_numbers(figures["values"])
        near = pytest.approx(values, NEAR, NEAR)
        is_there = any(
            numbers[start : start + len(values)] == near
            for numbers in map(printed_numbers, texts)
            for start in range(len(numbers))
        )
    return "" if is_there else str(figures)


@pytest.mark.whole  # the programs and what they print are recorded; CI runs them
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("row", claims())
def test_the_programs_on_the_page_of_a_claim_print_its_figures(row: int, printed: Printed) -> None:
    texts = [printed(program) for program in shown_programs(row)]
    assert texts
    for measurement in claims()[row].measurements:
        scenario = Path(measurement.scenario).stem if measurement.scenario else ""
        measured = measurements()[measurement.name, scenario]
        assert not missing(measured, texts), measurement.name


def test_what_another_program_prints_is_missing() -> None:
    measured = Measured(outcome="ok", figures={"dx": [1.0, float(2)], "raised": "at explorer.x.y"})
    assert not missing(measured, ["{'dx': (1.0, 2.0), 'raised': 'at __main__'}\n"])
    assert missing(measured, ["{'dx': (1.0, 2.1), 'raised': 'at __main__'}\n"])
    assert missing(measured, ["Traceback\n"]) == "nothing is printed"
    script = Measured(outcome="ok", figures={"code": "…", "values": [[4.0, 6.0], 20.0]})
    assert not missing(script, ["(tensor([[4., 6.]]),) [tensor(20., grad_fn=<A1>)]\n"])
    assert missing(script, ["(tensor([[4., 6.]]), tensor(-2.)) [tensor(20.)]\n"])
