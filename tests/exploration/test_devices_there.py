"""A device asked for, the devices there, and what each engine gets or is said: on every face.

The workers' answer about devices is made up (tests/support/fake_devices.py), so that no GPU is needed.
"""

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from explorer import api
from explorer.cli.entry import run
from explorer.cli.exit_codes import AS_EXPECTED, LOST, USAGE_ERROR
from explorer.exploration.options import Wanted
from explorer.exploration.stored import explored, stored_report
from explorer.model.errors import UsageError
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.store.store import Store
from explorer.topics import study_topic
from explorer.topics.studies import study, target
from explorer.web.shared_runs import SharedRuns
from explorer.workers.workers import Workers
from tests.support.fake_devices import FakeDevices
from tests.support.pages import address, opened
from tests.support.standard_engines import ENGINES

NAME = "aliased_input"
"""A shipped scenario, which is read without a process of its own."""

ALL = tuple(ENGINES)
TORCH = ("torch-tape", "torch-graph")

CPU = ("cpu",)
ONE_GPU = ("cpu", "cuda:0")
TWO_GPUS = ("cpu", "cuda:0", "cuda:1")
APPLE = ("cpu", "mps")
NPUS = ("cpu", "npu:0", "npu:1")

Devices = tuple[str, ...]

GIVEN = [
    ("cpu", NPUS, TWO_GPUS, ALL, ("cpu", "cpu")),
    ("auto", CPU, TWO_GPUS, ALL, ("cpu", "cuda:0")),
    ("auto", NPUS, (*NPUS, "mps", "cuda:0"), ALL, ("npu:0", "cuda:0")),
    ("npu:1", NPUS, NPUS, ALL, ("npu:1", "npu:1")),
    ("cuda:1", CPU, TWO_GPUS, TORCH, (None, "cuda:1")),
    ("npu", NPUS, CPU, ("mindspore-graph",), ("npu:0", None)),
]
"""What is asked, what MindSpore and PyTorch have, which engines are asked, and what these get."""


def shell(monkeypatch: pytest.MonkeyPatch, fake: FakeDevices) -> None:
    """Let commands called in this process, and the functions of Python, use made-up devices."""
    for place in ("cli.scenario", "cli.study", "cli.installation", "api.functions"):
        monkeypatch.setattr(f"explorer.{place}.Workers", lambda *_: nullcontext(fake))


@pytest.mark.parametrize(("device", "mindspore", "torch", "engines", "gets"), GIVEN)
def test_each_engine_is_asked_on_the_device_that_its_framework_gets(
    device: str,
    mindspore: Devices,
    torch: Devices,
    engines: Devices,
    gets: tuple[str | None, str | None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake = FakeDevices(mindspore, torch)
    shell(monkeypatch, fake)
    options = [part for engine in engines for part in ("--engine", engine)]
    # Nothing is computed there, and so the answers are lost.
    assert run(["scenario", NAME, "--device", device, *options, "--json"]) == LOST
    by_framework = dict(zip(("mindspore", "torch"), gets, strict=True))
    wanted = {engine: by_framework[ENGINES[engine].framework] for engine in engines}
    assert json.loads(capsys.readouterr().out)["devices"] == wanted
    assert {name: fake.asked_on[name] for name in engines} == {
        name: {place} for name, place in wanted.items()
    }


def test_a_device_that_is_not_there_is_refused_before_anything_is_computed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = FakeDevices(CPU, ONE_GPU)
    shell(monkeypatch, fake)
    for command in (["scenario", NAME], ["study", "devices"]):
        assert run([*command, "--device", "cuda"]) == USAGE_ERROR
        told = capsys.readouterr()
        assert told.out == ""
        assert "device 'cuda': mindspore does not support cuda devices" in told.err

    with pytest.raises(UsageError) as caught:
        api.explore(NAME, device="cuda")
    assert "use device auto for the best one of each framework" in str(caught.value)
    with pytest.raises(UsageError, match=r"\(it can use "):
        api.study("devices", device="cuda")
    assert fake.asked_on == {}


def test_the_best_device_is_asked_anew_where_another_one_is_there(tmp_path: Path) -> None:
    scenario, store = load(find(NAME)), Store(tmp_path)
    best = Wanted(engines=TORCH, device="auto", selection="main")
    for torch, place in ((CPU, "cpu"), (ONE_GPU, "cuda:0")):
        report = explored(scenario, best, FakeDevices(torch=torch), store)
        assert report.devices == dict.fromkeys(TORCH, place)
    assert stored_report(scenario, best, store) is None


@pytest.mark.whole
@pytest.mark.torch
def test_a_report_on_the_best_device_is_stored_by_what_that_was(
    tmp_path: Path, workers: Workers
) -> None:
    scenario, store = load(find(NAME)), Store(tmp_path)
    best = Wanted(engines=("torch-tape",), device="auto", selection="main")
    made = explored(scenario, best, FakeDevices(torch=ONE_GPU, real=workers), store)
    # Workers that compute nothing: what they give is what was stored.
    assert explored(scenario, best, FakeDevices(torch=ONE_GPU), store) == made
    assert explored(scenario, best, FakeDevices(torch=APPLE), store) != made


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
def test_an_answer_on_another_device_ends_as_one_on_the_cpu(
    workers: Workers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell(monkeypatch, FakeDevices(CPU, TWO_GPUS, workers))
    options = ("--device", "auto", "--cases", "main", "--fresh")
    assert run(["scenario", NAME, *options]) == AS_EXPECTED
    heading = capsys.readouterr().out.splitlines()[:6]
    assert [line for line in heading if "cuda:0" in line]
    assert not [line for line in heading if "cuda:1" in line]


STUDIED = [
    (
        "auto",
        CPU,
        ONE_GPU,
        {"mindspore": "cpu", "torch": "cuda:0"},
        "mindspore on cpu, torch on cuda:0",
    ),
    ("auto", NPUS, NPUS, {"mindspore": "npu:0", "torch": "npu:0"}, "npu:0"),
    ("npu:1", NPUS, NPUS, {"mindspore": "npu:1", "torch": "npu:1"}, "npu:1"),
    ("cpu", NPUS, ONE_GPU, {"mindspore": "cpu", "torch": "cpu"}, "cpu"),
]
"""The device of a study, what MindSpore and PyTorch have, where each measures, what the record says."""


@pytest.mark.parametrize(("device", "mindspore", "torch", "gets", "told"), STUDIED)
def test_a_study_measures_on_the_device_that_each_framework_gets(
    device: str, mindspore: Devices, torch: Devices, gets: dict[str, str], told: str
) -> None:
    topic, fake = study_topic("devices"), FakeDevices(mindspore, torch)
    record = study(topic, target(topic, None, device), fake)
    assert record.device == told
    assert fake.asked_on
    for name, places in fake.asked_on.items():
        # A measurement has its place at the end of its name; a net is described first.
        framework = name.rpartition(".")[2].partition("-")[0]
        assert places == {gets[framework]}, name


def cases_page() -> None:
    from explorer.web.cases_page import cases
    from explorer.web.report_page import report_page

    report_page(cases)()


@pytest.mark.slow
def test_in_the_app_a_device_that_is_typed_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeDevices(NPUS, NPUS)
    runs = SharedRuns(fake, fake)
    monkeypatch.setattr("explorer.web.report_page.shared_runs", lambda: runs)
    shown = opened(cases_page, device="npu:1", scenario=NAME)
    assert shown.selectbox(key="device").value == "npu:1"
    assert address(shown)["device"] == "npu:1"
    assert set(fake.asked_on) == set(ALL)
    assert set().union(*fake.asked_on.values()) == {"npu:1"}
