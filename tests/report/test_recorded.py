"""Recorded results: all that is shipped is among them, and each is what a run gives now."""

import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from explorer.exploration.explore import explore
from explorer.exploration.options import Wanted
from explorer.model.errors import ExplorerError
from explorer.model.measurement import Measured
from explorer.model.report import LeftOut
from explorer.report.recorded import results
from explorer.report.recorded.recording import (
    facts_of,
    measured_groups,
    outcomes_of,
    placeless,
    whole_report,
)
from explorer.report.recorded.results import (
    DRAWINGS_FILE,
    FOLDER,
    MEASUREMENTS_FILE,
    REPORTS_FOLDER,
    SCENARIOS_FILE,
    VERSIONS_FILE,
    digest_of_text,
    drawings,
    measurements,
    other_versions,
    recorded_board,
    recorded_card,
    recorded_introduction,
    recorded_outcomes,
    recorded_report,
    recorded_scenario,
    recorded_study,
    recording,
)
from explorer.report.scenario.card import INTRODUCTION, card_of
from explorer.scenario.find import REAL, SHIPPED, find, names
from explorer.scenario.load import load
from explorer.shipped import PACKAGE
from explorer.store.store import Store
from explorer.text.language import said_in
from explorer.topics import STUDIES, claims, study_topic
from explorer.topics.boards import judged, needed
from explorer.topics.question import Target
from explorer.topics.studies import target
from explorer.topics.topic import Topic
from explorer.workers.workers import Workers
from tests.corpus import folder
from tests.support.sample_report import report
from tests.support.samples import some
from tests.support.scenario_files import MINIMAL, written
from tests.support.scenario_reports import Reports

SOME_OF = {
    "claims": r"(gradients|networks|.*custom_gradient)\.([^(]*|grad\(dense_mse, grad_position=None.*)",
    "study data-parallel": r".*\.torch",
    "study higher-order": r".*(\.torch|-func|torch-tape|by shape\.mindspore-graph|wave\.mindspore-tape)",
}
"""Of some groups the names of the measurements that every run of the tests compares; of others all."""

MOST_BYTES = 2_000_000

PATHS = dict(names(SHIPPED))


def default_target(topic: Topic) -> Target:
    return target(topic, None, "cpu")


def test_every_shipped_scenario_is_recorded_as_its_file_is_now() -> None:
    recorded = {scenario.name: scenario.sha256 for scenario in recording().scenarios}
    now = {name: digest_of_text(path, recording().versions) for name, path in PATHS.items()}
    assert recorded == now, "run `make recorded`"


@pytest.mark.parametrize("place", ["def mindspore_net", "def torch_net", ""])
def test_a_net_for_another_framework_keeps_what_is_recorded(place: str, tmp_path: Path) -> None:
    plain, other, changed = (tmp_path / name for name in ("plain.py", "other.py", "changed.py"))
    text = PATHS["tied_weights"].read_text()
    net = "def third_net():\n    x = 1\n\n    return x\n"
    plain.write_text(text)
    other.write_text(text.replace(place, f"{net}\n\n{place}") if place else f"{text}\n\n{net}")
    changed.write_text(other.read_text().replace("tanh", "sin"))
    recorded = digest_of_text(plain, ("mindspore", "torch"))
    assert digest_of_text(other, ("mindspore", "torch")) == recorded
    assert digest_of_text(changed, ("mindspore", "torch")) != recorded
    assert digest_of_text(other, ("mindspore", "torch", "third")) != recorded


def test_every_shipped_scenario_has_a_small_drawing_without_words() -> None:
    assert list(drawings().ladders) == list(PATHS)
    for svg in (*drawings().ladders.values(), *drawings().introductions.values()):
        assert ElementTree.fromstring(svg).get("role") == "img"
    assert not [name for name, svg in drawings().ladders.items() if "<text" in svg]


@pytest.mark.parametrize(
    "name",
    some(
        sorted(path.name.split(".")[0] for path in REPORTS_FOLDER.iterdir()),
        "aliased_input",
        "dense_mse",
        "kinks",
    ),
)
def test_a_recorded_report_can_be_read_and_counts_as_its_card_does(name: str) -> None:
    recorded = recorded_report(load(PATHS[name]), Wanted())
    assert recorded, "run `make recorded`"
    facts = recorded_scenario(PATHS[name])
    assert facts
    assert len(recorded.cases) == facts.cases
    assert sum(not case.expected for case in recorded.cases) == facts.unexpected
    assert str(PACKAGE.parent).encode() not in msgspec.json.encode(recorded)


def test_a_report_stands_for_runs_on_fewer_engines_and_not_for_other_options() -> None:
    scenario = load(PATHS["dense_mse"])
    assert recorded_report(scenario, Wanted(engines=("torch-tape",), selection="main"))
    for other in (Wanted(device="cuda"), Wanted(order=2), Wanted(prove="all")):
        assert recorded_report(scenario, other) is None


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_is_recorded_with_findings_and_tables(name: str) -> None:
    topic = study_topic(name)
    record = recorded_study(topic, default_target(topic))
    assert record, "run `make recorded`"
    assert record.findings
    assert record.tables
    assert record.versions == recording().versions


def test_every_claim_is_recorded_with_a_verdict() -> None:
    recorded = recorded_board(claims().values())
    assert recorded, "run `make recorded`"
    assert [row.id for row in recorded.rows] == list(claims())
    assert [row.id for row in recorded.rows if row.verdict is None] == []


def test_nothing_is_recorded_that_nobody_needs() -> None:
    needed = set()
    for _, wanted in measured_groups():
        for measurement in wanted:
            stem = Path(measurement.scenario).stem if measurement.scenario else ""
            needed.add((measurement.name, stem))
    assert set(measurements()) == needed


def test_the_files_are_small_sorted_and_name_no_folder_of_a_machine() -> None:
    files = (SCENARIOS_FILE, DRAWINGS_FILE, MEASUREMENTS_FILE, VERSIONS_FILE)
    assert sum(file.stat().st_size for file in files) < MOST_BYTES
    assert {path for path in FOLDER.iterdir() if ".json" in path.name} == set(files)
    assert [scenario.name for scenario in recording().scenarios] == list(PATHS)
    assert list(measurements()) == sorted(measurements())
    texts = [msgspec.json.encode(measured).decode() for measured in measurements().values()]
    texts += [*drawings().introductions.values(), *drawings().ladders.values()]
    folder = str(PACKAGE.parent)
    assert not [text for text in texts if folder in text or "/site-packages/" in text]


def test_an_outcome_is_recorded_without_graphs_and_without_the_folder_that_it_ran_in() -> None:
    file = str(PACKAGE.parent / "scenarios" / "kinks.py")
    measured = Measured(outcome="ok", figures={"text": f'at "{file}", line 3'}, date="2026-01-02")
    assert placeless(measured).figures == {"text": 'at "scenarios/kinks.py", line 3'}
    assert placeless(measured).date == "2026-01-02"


@pytest.mark.slow
def test_a_file_of_the_reader_s_own_has_no_recorded_results(tmp_path: Path) -> None:
    own = load(written(tmp_path, MINIMAL, f"{INTRODUCTION}.py"))
    assert recorded_card(own) is None
    assert recorded_introduction(own) == ""
    devices = study_topic("devices")
    assert recorded_study(devices, target(devices, str(own.path), "cpu")) is None


def test_a_scenario_that_was_changed_has_no_recorded_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shipped = load(find(INTRODUCTION))
    assert recorded_card(shipped)
    english = recorded_introduction(shipped)
    with said_in("zh"):
        chinese = recorded_introduction(shipped)
    assert "forward operator" in english
    assert "前向算子" in chinese
    devices = study_topic("devices")
    on = default_target(devices)
    assert recorded_study(devices, on)
    # Of another device nothing is recorded either.
    assert recorded_study(devices, Target(on.scenario, "cuda")) is None
    monkeypatch.setattr(results, "digest_of_text", lambda path, frameworks: "another text")
    assert recorded_scenario(shipped.path) is None
    assert recorded_card(shipped) is None
    assert recorded_introduction(shipped) == ""
    assert recorded_study(devices, on) is None


def test_one_measurement_that_is_not_recorded_leaves_nothing_to_show() -> None:
    devices = study_topic("devices")
    wanted = devices.measurements(default_target(devices))
    unknown = msgspec.structs.replace(wanted[0], name="devices.of_tomorrow.torch")
    assert recorded_outcomes(wanted)
    assert recorded_outcomes([*wanted, unknown]) is None


@pytest.mark.parametrize(
    ("installed", "others"),
    [
        ({}, {}),
        ({"torch": "2.13.0+cu130"}, {}),
        ({"torch": "2.99.0"}, {"torch": "2.99.0"}),
        ({"mindspore": "none"}, {"mindspore": "none"}),
    ],
)
def test_another_version_than_the_recorded_one_is_named_and_another_build_is_not(
    installed: dict[str, str], others: dict[str, str]
) -> None:
    assert other_versions({**recording().versions, **installed}) == others


@pytest.mark.slow
@pytest.mark.parametrize("cause", ["selected", "timed_out"])
def test_a_report_that_ran_out_of_time_is_not_recorded(
    cause: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_out = (LeftOut(cause, ()),)
    partial = msgspec.structs.replace(report(), left_out=left_out)
    monkeypatch.setattr("explorer.report.recorded.recording.explored", lambda *_: partial)
    path = PATHS[INTRODUCTION]
    if cause == "selected":
        assert card_of(whole_report(path, Store(tmp_path))).cases == len(partial.cases)
    else:
        with pytest.raises(ExplorerError, match="not whole"):
            whole_report(path, Store(tmp_path))


def test_a_difference_is_found_and_rounding_is_none() -> None:
    recorded = {"a": [1.0, "x"], "b": {"c": True}}
    assert not list(differences(recorded, {"a": [1.0000001, "x"], "b": {"c": True}}))
    for now in (
        {"a": [1.01, "x"], "b": {"c": True}},
        {"a": [1.0, "y"], "b": {"c": True}},
        {"a": [1.0, "x"], "b": {"c": False}},
        {"a": [1.0], "b": {"c": True}},
        {"a": [1.0, "x"]},
    ):
        assert list(differences(recorded, now))


@pytest.fixture
def where_recorded() -> None:
    """Skips where kernels may round otherwise: a difference near its noise may count otherwise there."""
    others = folder.other_versions()
    if "python" in others or "processor" in others:
        pytest.skip(others)


REAL_COUNTED = 6
"""Of so many nets modelled on published ones every case is asked; ``make recorded`` asks those of all."""


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.usefixtures("where_recorded")
@pytest.mark.parametrize("name", PATHS)
def test_a_scenario_s_recorded_ladder_is_what_a_run_gives(name: str, report: Reports) -> None:
    found = f"real/{name}" if PATHS[name].parent == REAL else name
    ladder = card_of(report(found)).ladder
    assert marks_of(drawings().ladders[name]) == marks_of(ladder), "run `make recorded`"


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.usefixtures("where_recorded")
@pytest.mark.parametrize(
    "name", [*names(), *random.Random(4).sample(sorted(names((REAL,))), REAL_COUNTED)]
)
def test_a_scenario_s_recorded_counts_are_what_a_run_gives(
    name: str, report: Reports, workers: Workers
) -> None:
    path = PATHS[name]
    all_cases = explore(load(path), workers) if path.parent == REAL else report(name)
    counted = facts_of(name, path, card_of(all_cases), recording().versions)
    assert recorded_scenario(path) == counted, "run `make recorded`"


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.usefixtures("where_recorded")
@pytest.mark.parametrize("group", dict(measured_groups()))
def test_recorded_measurements_are_what_a_run_gives(
    group: str, workers: Workers, pytestconfig: pytest.Config
) -> None:
    is_whole = pytestconfig.getoption("--whole")
    names = ".*" if is_whole else SOME_OF.get(group, ".*")
    wanted = [each for each in dict(measured_groups())[group] if re.fullmatch(names, each.name)]
    assert wanted
    found: list[str] = []
    outcomes: dict[str, Measured] = {}
    for now in outcomes_of(wanted, workers):
        recorded = measurements()[now.name, now.scenario]
        assert recorded.outcome == now.measured.outcome, now.name
        # As text and back: tuples are lists there.
        figures = msgspec.json.decode(msgspec.json.encode(now.measured.figures))
        found += differences(recorded.figures, figures, now.name)
        outcomes[now.name] = now.measured
    assert found == [], "run `make recorded`"
    if is_whole and group == "claims":
        assert verdicts(outcomes) == verdicts(recorded_outcomes(needed(claims().values())))


def verdicts(outcomes: Mapping[str, Measured] | None) -> dict[int, str | None]:
    """The verdict on each claim, by its number."""
    assert outcomes
    return {number: judged(claim, outcomes).verdict for number, claim in claims().items()}


# What differs


RELATIVE, ABSOLUTE = 1e-3, 1e-5
"""Numbers that are nearer to each other than this are the same: processors round differently."""


def differences(recorded: Any, now: Any, place: str = "") -> Iterator[str]:
    """Where two values of plain data differ: the place, and both values."""
    if isinstance(recorded, dict) and isinstance(now, dict) and list(recorded) == list(now):
        for name, value in recorded.items():
            yield from differences(value, now[name], f"{place}.{name}")
    elif isinstance(recorded, list) and isinstance(now, list) and len(recorded) == len(now):
        for index, value in enumerate(recorded):
            yield from differences(value, now[index], f"{place}[{index}]")
    elif isinstance(recorded, float) and isinstance(now, (int, float)):
        if not math.isclose(recorded, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            yield f"{place}: {recorded!r} was recorded, and a run gives {now!r}"
    elif recorded != now:
        yield f"{place}: {recorded!r} was recorded, and a run gives {now!r}"


def marks_of(svg: str) -> Counter[tuple[str, str | None, str | None]]:
    """The elements of a drawing by name, fill and stroke, wherever they are placed."""
    elements = ElementTree.fromstring(svg).iter()
    return Counter((mark.tag, mark.get("fill"), mark.get("stroke")) for mark in elements)
