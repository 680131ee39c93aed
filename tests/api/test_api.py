"""The functions of the API on real frameworks: what they find, and what a notebook shows of it."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import explorer
from explorer.model.errors import UsageError
from explorer.pair.details import source_lines
from explorer.report.recorded.results import recorded_board, recorded_study
from explorer.words.claims import evidence_text
from tests.support.command_line import python
from tests.support.html_pages import HtmlPage
from tests.support.own_package import (
    MINDSPORE,
    MINDSPORE_TWIN,
    OTHER_PACKAGE,
    OTHER_TWIN,
    PACKAGE,
    RIGHT,
    TWIN_LINE,
    WRONG,
    WRONG_LINE,
)

BATCH = {
    "x": np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], np.float32),
    "y": np.array([[1.0], [-1.0]], np.float32),
}


def shown(result: Any) -> HtmlPage:
    return HtmlPage(result._repr_mimebundle_()["text/html"])


@pytest.mark.slow
def test_importing_the_api_loads_no_framework_and_the_package_alone_nothing() -> None:
    code = (
        "import sys, explorer; print(any('explorer.api' in name for name in sys.modules)); "
        "explorer.explore, explorer.assert_same_gradients; "
        "print(sorted({'mindspore', 'torch', 'keras', 'streamlit'} & set(sys.modules)))"
    )
    assert python("-c", code).split("\n")[:2] == ["False", "[]"]


def test_every_name_that_the_package_promises_is_there() -> None:
    for name in explorer.__all__:
        assert callable(getattr(explorer, name))
        assert name in dir(explorer)
    with pytest.raises(AttributeError, match="exlpore"):
        explorer.exlpore  # noqa: B018


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.usefixtures("warm")
@pytest.mark.sample
@pytest.mark.whole
def test_a_net_of_one_s_own_package_is_explored_as_a_scenario_is(tmp_path: Path) -> None:
    found = explorer.explore(
        explorer.nets(mindspore=MINDSPORE, torch=RIGHT, inputs=BATCH, constants=("y",)),
        cases="main",
    )
    assert found.is_as_expected
    assert found.diff().is_same
    assert "torch-tape and mindspore-graph agree" in found.diff().explain()
    page = shown(found)
    assert {"table", "img", "details"} <= set(page.tags)
    assert found.summary in page.texts
    assert found.summary in repr(found)
    assert len(repr(found)) < 300
    with pytest.raises(UsageError, match=r"report\.json.*\.html"):
        found.save(tmp_path / "report.json")
    assert "Gradient graph of" in page.values("alt")[0]


@pytest.mark.torch
@pytest.mark.usefixtures("warm")
def test_what_is_stored_of_own_nets_starts_no_worker_until_they_change(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = explorer.explore(explorer.nets(torch=RIGHT, inputs=BATCH), cases="main")
    monkeypatch.setattr("explorer.api.functions.Workers", None)
    again = explorer.explore(explorer.nets(torch=RIGHT, inputs=BATCH), cases="main")
    assert again.report == first.report
    sizes = package / PACKAGE / "sizes.py"
    before = sizes.read_text()
    sizes.write_text("HIDDEN = 5\n")
    try:
        with pytest.raises(TypeError, match="NoneType"):
            explorer.explore(explorer.nets(torch=RIGHT, inputs=BATCH), cases="main")
    finally:
        sizes.write_text(before)


@pytest.mark.torch
@pytest.mark.usefixtures("warm")
@pytest.mark.sample
@pytest.mark.whole
def test_the_code_of_own_nets_runs_by_itself(tmp_path: Path) -> None:
    large = {"x": np.ones((30, 3), np.float32), "y": np.ones((30, 1), np.float32)}
    codes = []
    for batch, remark in ((BATCH, 0), (large, 1)):
        nets = explorer.nets(torch=RIGHT, inputs=batch, parameters={"first.bias": [1, 2, 3, 4]})
        (case,) = explorer.explore(nets, engines=("torch-tape",), cases="main").report.cases
        codes.append(case.results["torch-tape"].code)
        assert codes[-1].count("  # replace: the array that nets() was given") == remark
        assert "tmp/explorer-nets" not in codes[-1]
    program = f"for code in {codes!r}:\n    exec(code, {{'__name__': '__main__'}})\n"
    python("-c", program, cwd=tmp_path)


@pytest.mark.whole
@pytest.mark.torch
@pytest.mark.mindspore
@pytest.mark.usefixtures("warm")
def test_a_study_measures_nets_of_one_s_own_package() -> None:
    nets = explorer.nets(mindspore=MINDSPORE, torch=RIGHT, inputs=BATCH)
    record = explorer.study("tape-life", nets).record
    assert record.scenario == nets.name
    assert {measured.outcome for measured in record.measured.values()} == {"ok"}


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.usefixtures("warm")
def test_a_wrong_port_is_explained_by_the_line_where_it_parts() -> None:
    parted = explorer.diff(explorer.nets(mindspore=MINDSPORE, torch=WRONG, inputs=BATCH))
    assert not parted.is_same
    assert f"{PACKAGE}/torch_models.py:{WRONG_LINE}" in str(parted)
    assert "mindspore_models.py:11" in str(parted)
    where, _, why = parted.explain().partition(". Cause, tried: ")
    assert f"{where}\n" in str(parted)
    assert f"Cause, tried: {why}\n" in str(parted)
    (cause,) = parted.causes
    assert cause is not None
    assert (cause.own, cause.arguments) == ({"approximate": "tanh"}, {"approximate": "none"})
    assert parted.explain() in repr(parted)
    # The text of the lines is shown too, wherever the package lies.
    line = source_lines(f"{PACKAGE}/torch_models.py:{WRONG_LINE}", parted.code)
    assert "functional.gelu" in dict(line.lines)[WRONG_LINE]
    page = shown(parted)
    assert all(any(part in text for text in page.texts) for part in (where, why))
    assert where in page.values("alt")[0]


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.usefixtures("warm")
def test_files_of_one_name_in_two_packages_are_told_apart_and_both_show_their_lines() -> None:
    nets = explorer.nets(mindspore=MINDSPORE_TWIN, torch=OTHER_TWIN, inputs=BATCH)
    parted = explorer.diff(nets)
    for place, operator in (
        (f"{PACKAGE}/mindspore/models.py:{TWIN_LINE}", "ops.gelu"),
        (f"{OTHER_PACKAGE}/torch/models.py:{TWIN_LINE}", "functional.silu"),
    ):
        assert place in parted.explain()
        assert operator in dict(source_lines(place, parted.code).lines)[TWIN_LINE]


@pytest.mark.torch
@pytest.mark.usefixtures("warm")
def test_one_framework_alone_is_enough_and_a_picture_is_written_as_it_is_asked(
    tmp_path: Path,
) -> None:
    nets = explorer.nets(torch=RIGHT, inputs=BATCH)
    drawn = explorer.graph(nets, "torch-tape")
    picture = ElementTree.fromstring(drawn.text)
    assert picture.tag.endswith("svg")
    assert "aten.gelu" in drawn.text
    assert "torch-tape" in str(drawn)
    with pytest.raises(UsageError, match="no net for 'mindspore-tape'"):
        explorer.graph(nets, "mindspore-tape")

    png = explorer.graph(nets, "torch-tape", format="png")
    path = png.save(tmp_path / "graph.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert "png" in png._repr_mimebundle_()["text/html"][:40]
    with pytest.raises(UsageError, match="PNG"):
        png.text  # noqa: B018
    with pytest.raises(UsageError, match=r"graph\.svg.*\.png"):
        png.save(tmp_path / "graph.svg")
    assert not (tmp_path / "graph.svg").exists()
    dot = explorer.graph(nets, "torch-tape", format="dot")
    assert dot.text.startswith("digraph")
    assert set(dot._repr_mimebundle_()) == {"text/plain"}


@pytest.mark.torch
@pytest.mark.mindspore
@pytest.mark.usefixtures("warm")
def test_graphs_are_those_of_a_stored_exploration(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = explorer.explore("dense_mse", cases="main")
    monkeypatch.setattr("explorer.api.functions.Workers", None)
    assert explorer.diff("dense_mse", "mindspore-tape", "torch-tape").report == whole.report
    assert "aten.mse_loss" in explorer.graph("dense_mse", "torch-tape").text
    for engines in (("torch-tape", "mindspore-graph"), ("mindspore-graph", "torch-tape")):
        alignment = explorer.diff("dense_mse", *engines).alignment
        assert (alignment.left, alignment.right) == engines
        assert alignment.left_coverage == whole.diff(*reversed(engines)).alignment.right_coverage
    with pytest.raises(TypeError, match="NoneType"):
        explorer.diff("dense_mse", case="grad(1)")


@pytest.mark.parametrize(
    "is_run",
    [
        pytest.param(False, marks=pytest.mark.slow),
        pytest.param(True, marks=[pytest.mark.whole, pytest.mark.mindspore, pytest.mark.torch]),
    ],
)
def test_claims_and_studies_show_themselves(is_run: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_run:  # as where there is no framework: what is recorded is shown
        monkeypatch.setattr("explorer.api.functions.board_in_place", recorded_board)
        monkeypatch.setattr("explorer.api.functions.study_in_place", recorded_study)
    board = explorer.claims(4, 30)
    assert [row.id for row in board.board.rows] == [4, 30]
    page = shown(board)
    assert evidence_text(board.board.rows[1]) in page.texts
    assert "30" in str(board)

    schedules = explorer.study("schedules")
    page = shown(schedules)
    assert schedules.findings
    assert set(schedules.findings) <= set(page.texts)
    assert "img" in page.tags


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: explorer.explore("dense_mes"), ["dense_mes", "dense_mse"]),
        (lambda: explorer.explore("dense_mse", engines=("torch",)), ["torch", "torch-tape"]),
        (lambda: explorer.explore("dense_mse", order=9), ["9", "1 to"]),
        (lambda: explorer.explore("dense_mse", cases="few"), ["few", "structure"]),
        (lambda: explorer.explore("dense_mse", case="gard"), ["gard"]),
        (lambda: explorer.explore("dense_mse", device="abacus"), ["abacus", "cpu"]),
        (lambda: explorer.diff("dense_mse", "torch-tape", "torch-tape"), ["twice"]),
        (lambda: explorer.graph("dense_mse", *["torch-tape"] * 3), ["3", "two"]),
        (lambda: explorer.study("tape"), ["tape", "tape-life"]),
        (lambda: explorer.study("schedules", "dense_mse"), ["schedules", "dense_mse"]),
        (lambda: explorer.claims(999), ["999", "1 to 94"]),
    ],
)
def test_what_cannot_be_asked_is_refused_before_a_worker_starts(
    ask: Any, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("explorer.workers.workers.WorkerProcess", None)
    with pytest.raises(UsageError) as refused:
        ask()
    for word in words:
        assert word in str(refused.value)
