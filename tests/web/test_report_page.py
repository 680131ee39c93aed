"""The states of a page that shows a report: partial, whole, without some answers, stopped, failed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from explorer.environments import known
from explorer.folders import SETTINGS
from explorer.model.errors import ExplorerError, MissingFrameworkError, WorkerFaultError
from explorer.model.failures import Failure
from explorer.model.findings import NoiseUnknown, ReportFinding
from explorer.model.report import Report, Ungraphed
from explorer.model.results import Result
from explorer.web.cases_page import cases
from explorer.web.offered_scenarios import VARIABLE
from explorer.web.report_page import ReportKey, report_page, wanted_of
from explorer.web.shared_runs import SharedRun, StoppedError
from explorer.words.findings import sentence
from tests.support.environments import environment, say_version
from tests.support.pages import address, said, shown
from tests.support.sample_report import report
from tests.support.scenario_files import MINIMAL, written
from tests.support.standard_engines import ENGINES

pytestmark = pytest.mark.slow

PAGE = report_page(cases, by_row=True)

WHOLE = msgspec.structs.replace(report(), left_out=(), ungraphed={})
NOISE = ReportFinding(fact=NoiseUnknown("torch", Failure("crashed", "it was lost")))
LOST = msgspec.structs.replace(
    WHOLE.cases[0],
    results={"torch-tape": msgspec.convert({"outcome": "crashed"}, Result)},
    groups=(),
)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> SharedRun[Report]:
    """The question that the page finds under way."""
    question = SharedRun[Report]()
    monkeypatch.setattr("explorer.web.report_page.report_run", lambda key, runs: question)
    return question


def finish(run: SharedRun[Report], answer: Report) -> None:
    run.value = answer
    run.finished.set()


def buttons(page: Any) -> list[str]:
    return [button.key for button in page.button]


@pytest.mark.parametrize(
    ("changed", "is_lost"),
    [
        ({}, False),
        ({"findings": (NOISE,)}, True),
        pytest.param({"cases": (LOST, *WHOLE.cases[1:])}, True, marks=pytest.mark.whole),
        pytest.param(
            {"ungraphed": {"torch-tape": Ungraphed(Failure("crashed", "it died"))}},
            True,
            marks=pytest.mark.whole,
        ),
    ],
    ids=["nothing", "noise", "answer", "graph"],
)
def test_where_a_worker_was_lost_the_page_says_so_and_offers_to_run_again(
    changed: dict[str, Any], is_lost: bool, run: SharedRun[Report]
) -> None:
    finish(run, msgspec.structs.replace(WHOLE, **changed))
    page = shown(PAGE)
    assert not page.exception
    warnings = " ".join(block.value for block in page.warning)
    assert ("worker process died" in warnings) is bool(warnings) is is_lost
    assert ("run_again" in buttons(page)) is is_lost
    # Noise that was not measured is information.
    is_told = any(sentence(NOISE) in block.value for block in page.info)
    assert is_told is ("findings" in changed)


def stop(run: SharedRun[Report]) -> None:
    run.error = StoppedError("stopped")
    run.finished.set()


@pytest.mark.parametrize(
    ("end", "rows", "is_stopped"),
    [(lambda run: finish(run, WHOLE), [len(WHOLE.cases)], False), (stop, [1], True)],
)
def test_what_is_known_is_shown_until_all_is_there_or_the_run_is_stopped(
    end: Callable[[SharedRun[Report]], None],
    rows: list[int],
    is_stopped: bool,
    run: SharedRun[Report],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run.set_partial(msgspec.structs.replace(WHOLE, cases=WHOLE.cases[:1]))
    looks: list[str] = []

    def see(visitor: str) -> None:
        # The page looks at the run once before it shows the part, and then while it waits.
        looks.append(visitor)
        if len(looks) == 2:
            end(run)

    monkeypatch.setattr(run, "see", see)
    page = shown(PAGE)
    assert not page.exception
    # The page has turned from the part to the end by itself.
    assert [len(table.value) for table in page.dataframe[:1]] == rows
    assert ("run_again" in buttons(page)) is is_stopped
    assert any("stopped" in block.value for block in page.info) is is_stopped


@pytest.mark.parametrize(
    ("error", "words"),
    [
        pytest.param(
            MissingFrameworkError("No module named 'mindspore'"),
            "mindspore",
            marks=pytest.mark.whole,
        ),
        pytest.param(ExplorerError("no such device"), "no such device", marks=pytest.mark.whole),
        (WorkerFaultError("Traceback: ZeroDivisionError"), "ZeroDivisionError"),
    ],
)
def test_a_question_that_failed_is_one_message(
    error: Exception, words: str, run: SharedRun[Report]
) -> None:
    run.error = error
    run.finished.set()
    page = shown(PAGE)
    assert not page.exception
    (block,) = page.error
    assert words in block.value.replace("\\", "")


def test_filters_that_no_case_fits_say_so_and_stay_in_the_address(run: SharedRun[Report]) -> None:
    finish(run, WHOLE)
    page = shown(PAGE, words="nothing has these words")
    assert any("No case fits" in block.value for block in page.caption)
    assert address(page)["words"] == "nothing has these words"
    page.text_input(key="words").set_value("").run()
    assert not any("No case fits" in block.value for block in page.caption)
    assert "####" in said(page)


def test_a_file_that_is_saved_while_it_runs_is_asked_anew_and_the_old_question_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, MINIMAL, "mine.py")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    asked: dict[str, SharedRun[Report]] = {}

    def ask(key: ReportKey, runs: object) -> SharedRun[Report]:
        question = asked.setdefault(key.digest, SharedRun[Report]())
        if len(asked) == 1:
            file.write_text(f"{MINIMAL}# saved\n", encoding="utf-8")  # the question is under way
        else:
            finish(question, WHOLE)
        return question

    monkeypatch.setattr("explorer.web.report_page.report_run", ask)
    page = shown(PAGE, scenario="mine")
    assert not page.exception
    before, _after = asked.values()
    assert before.stopped.is_set(), "nobody waits for the text that is gone"
    assert len(page.dataframe) >= 1


@pytest.fixture
def old_pytorch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment called "old" that has PyTorch alone; its Python."""
    monkeypatch.setenv(SETTINGS, str(tmp_path / "settings"))
    python = environment(tmp_path / "old")
    say_version(tmp_path / "old", "torch", "2.6.0")
    known.add("old", str(python))
    return python


@pytest.mark.whole
def test_engines_of_an_environment_in_the_address_are_run_too(
    old_pytorch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[ReportKey] = []

    def asked(key: ReportKey, runs: object) -> SharedRun[Report]:
        keys.append(key)
        question = SharedRun[Report]()
        finish(question, WHOLE)
        return question

    monkeypatch.setattr("explorer.web.report_page.report_run", asked)
    page = shown(PAGE, environments="old")
    assert not page.exception
    assert page.multiselect(key="environments").value == ["old"]
    assert wanted_of(keys[-1]).engines == (*ENGINES, "torch-tape@old", "torch-graph@old")
    page.multiselect(key="environments").set_value([]).run()
    assert wanted_of(keys[-1]).engines == tuple(ENGINES)
    assert "environments" not in address(page)


def test_an_address_runs_no_python_that_is_not_known_by_name(
    old_pytorch: Path, run: SharedRun[Report]
) -> None:
    for given in ("older", str(old_pytorch)):
        page = shown(PAGE, environments=given)
        assert not page.exception
        assert "unknown environment" in page.error[0].value
