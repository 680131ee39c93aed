"""Fixtures of all tests: the workers, each scenario's report, a browser; what is missing is skipped."""

import gc
import hashlib
import os
import re
import shutil
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from _pytest.runner import runtestprotocol  # what plugins that run tests again use
from hypothesis import HealthCheck, settings
from xdist.scheduler.loadscope import LoadScopeScheduling

from explorer.environments.known import VARIABLES, is_found
from explorer.exploration.explore import explore
from explorer.folders import COMPILED, STORE
from explorer.model.cases import GradCase
from explorer.model.engines import FRAMEWORKS
from explorer.model.report import Report
from explorer.scenario.find import find, real_names
from explorer.scenario.load import load
from explorer.scenario.selection import Selection
from explorer.store.store import REPLIES
from explorer.workers.workers import Workers, shared_nurseries
from tests.support.kept import KEPT, place
from tests.support.listings import Listings, running_listings
from tests.support.remembering_workers import Remembering
from tests.support.tiers import (
    DURATIONS,
    QUICK_SECONDS,
    Tier,
    in_order,
    record,
    recorded,
    shard_of,
    slowness,
    units_of,
)
from tests.support.work_units import work_unit

# On a busy machine everything takes long: no test may fail for that.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# A shell's background job ignores Ctrl-C, and so would the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

NUMBERS = count()
"""The numbers of the stores of this process's tests."""

CHROMIUM = shutil.which("chromium")

BY_FIRST, BY_SECOND = GradCase("grad", 0), GradCase("grad", 1)
BY_ALL, LOSS_BY_ALL = (
    GradCase("grad", (0, 1), "all"),
    GradCase("value_and_grad", (0, 1), "all", True),
)

POINTS: dict[str, tuple[GradCase, ...]] = {
    "aliased_input": (BY_FIRST,),
    "dense_mse": (BY_ALL, LOSS_BY_ALL),
    "embedding_repeats": (BY_FIRST, GradCase("grad", None, "all")),
    "integer_input": (BY_FIRST, BY_SECOND),
    "kinks": (BY_FIRST, BY_SECOND),
}
"""Cases that show the point of a scenario, asked beside those that show each way to ask."""

STRUCTURES = {*POINTS, "custom_gradient"}
"""Scenarios that are asked each way to ask once; of the others the case that asks for most.

``make whole`` asks every case of them all; of those modelled on published nets always that one.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options that say which tests run."""
    parser.addoption(
        "--whole",
        action="store_true",
        help="ask every case of every scenario, and run the tests marked whole too",
    )
    parser.addoption(
        "--quick",
        action="store_true",
        help="run what needs no framework and no browser and is not slow; a test over"
        f" {QUICK_SECONDS} s of the processor fails",
    )
    parser.addoption("--shard", metavar="K/N", help="run the K-th of N parts of about equal length")
    parser.addoption(
        "--keep-durations",
        action="store_true",
        help=f"write what each unit took into {DURATIONS.name}, which orders later runs",
    )


def _tier(config: pytest.Config) -> Tier:
    return "whole" if config.getoption("--whole") else "test"


TOO_LONG = f"and a quick test may take {QUICK_SECONDS}"  # how such a failure is told

LEFT_OUT_OF_QUICK = ("slow", "mindspore", "torch", "jax", "browser")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the tier and of the shard; those of the longest unit go first."""
    left_out_marks: list[str] = []
    if not config.getoption("--whole"):
        left_out_marks.append("whole")
    if config.getoption("--quick"):
        left_out_marks.extend(LEFT_OUT_OF_QUICK)
    kept = [item for item in items if not any(map(item.get_closest_marker, left_out_marks))]
    seconds = recorded(_tier(config))
    units = {item: work_unit(item.nodeid) for item in kept}
    if config.getoption("--shard"):
        if config.getoption("--keep-durations"):
            raise pytest.UsageError("durations are kept of a whole run: a shard goes by them")
        try:
            shard = shard_of(config.getoption("--shard"))
        except ValueError as error:
            raise pytest.UsageError(str(error)) from error
        chosen = units_of(shard, units.values(), seconds)
        kept = [item for item in kept if units[item] in chosen]
    order = {unit: place for place, unit in enumerate(in_order(units.values(), seconds))}
    kept.sort(key=lambda item: order[units[item]])
    left_out = set(items).difference(kept)
    items[:] = kept
    config.hook.pytest_deselected(items=list(left_out))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test of the quick tier that takes long twice more: the best time counts.

    What many tests share is made by the one that asks first, and a search for garbage is of what all have
    left. (pytest-rerunfailures asks its database over a socket about each test: two minutes.)
    """
    if not item.config.getoption("--quick"):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for _ in range(3):
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        if not any(TOO_LONG in str(report.longrepr) for report in reports):
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test of the quick tier fails that takes long: it belongs to those marked slow."""
    if not item.config.getoption("--quick"):
        yield
        return
    began = os.times()
    yield
    took = sum(os.times()[:4]) - sum(began[:4])  # of the processes too that it has waited for
    if took > QUICK_SECONDS and (seconds := took / slowness()) > QUICK_SECONDS:
        pytest.fail(
            f"{seconds:.2f} s of the processor, {TOO_LONG}; make it faster, or mark it slow",
            pytrace=False,
        )


# While tests are collected nothing is garbage: pytest_collection_finish lets it be searched for again.
gc.disable()


def pytest_collection_finish() -> None:
    """Let no search for garbage look at the tests themselves: each would take a third of a second."""
    gc.collect()
    gc.freeze()
    gc.enable()


TOOK: defaultdict[str, float] = defaultdict(float)
"""Seconds by unit, where they are kept."""


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what each unit takes."""
    TOOK[work_unit(report.nodeid)] += report.duration


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Write down what each unit has taken; of several processes the first one does.

    Of a run that was interrupted, or of chosen tests, nothing is written: it says little of the others.
    """
    config = session.config
    if not config.getoption("--keep-durations") or hasattr(config, "workerinput"):
        return
    is_chosen = config.args_source is pytest.Config.ArgsSource.ARGS or config.option.keyword
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not is_chosen:
        record(_tier(config), TOOK)


@pytest.fixture(scope="session", autouse=True)
def _nurseries() -> Iterator[None]:
    """Each framework is imported once for all crews of this process."""
    with shared_nurseries():
        yield


@pytest.fixture
def own_nurseries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Crews that a test makes start all of their processes, as they do in a command."""
    monkeypatch.setattr("explorer.workers.workers._SHARED", [])


@pytest.fixture(scope="session")
def workers(_nurseries: None) -> Iterator[Remembering]:
    """The worker processes of the whole session; a test that harms its workers makes its own.

    What they have replied, to other tests or in an earlier run of this working copy, is not asked again.
    """
    with Remembering(KEPT) as crew:
        yield crew


@pytest.fixture(scope="session", autouse=True)
def _session_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is asked once for many tests is not stored in the user's own folder, nor taken from it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(STORE, str(_with_replies(tmp_path_factory.mktemp("store") / "kept")))
        yield


@pytest.fixture(autouse=True)
def _own_store(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """Every test has a store of its own, in which there is nothing but what workers have replied.

    That of a test with the mark ``own_store`` is empty.
    """
    folder = tmp_path_factory.getbasetemp() / f"store-{next(NUMBERS)}"
    if request.node.get_closest_marker("own_store") is None:
        _with_replies(folder)
    monkeypatch.setenv(STORE, str(folder))


@pytest.fixture(autouse=True)
def _no_jax_unasked(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """A test that is not marked ``jax`` has none, as in ``make test``: what it sees is the same there."""
    if request.node.get_closest_marker("jax") is None:
        monkeypatch.delenv(VARIABLES["jax"], raising=False)


@pytest.fixture
def tmp_path(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Path]:
    """An empty folder; that of a test which runs a framework has the same path in every run.

    Replies on a net are those on a file at its place.
    """
    name = re.sub(r"\W", "_", request.node.name)[:30]
    if not any(map(request.node.get_closest_marker, FRAMEWORKS)):
        yield tmp_path_factory.mktemp(name)
        return
    digest = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:12]
    with place(f"{name}-{digest}", tmp_path_factory) as folder:
        yield folder


def _with_replies(store: Path) -> Path:
    """The folder of a store that shares the replies of all tests, and what JAX has compiled for them."""
    store.mkdir()
    for shared in (REPLIES, COMPILED):
        (KEPT / shared).mkdir(parents=True, exist_ok=True)
        (store / shared).symlink_to(KEPT / shared, target_is_directory=True)
    return store


@pytest.fixture
def warm(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands called in this process use the session's workers: starting them takes seconds."""
    for command in ("claims", "installation", "mend", "scenario", "study", "traces", "train"):
        monkeypatch.setattr(f"explorer.cli.{command}.Workers", lambda *_: nullcontext(workers))


@pytest.fixture(scope="session")
def report(workers: Workers, pytestconfig: pytest.Config) -> Callable[[str], Report]:
    """Gives the report on a shipped scenario by its name; the first who asks pays for it."""
    is_whole = pytestconfig.getoption("--whole")
    modelled = real_names()

    @cache
    def made(name: str, _jax: str | None) -> Report:
        scenario = load(find(name))
        if is_whole and name not in modelled:
            return explore(scenario, workers, selection="all")
        selection: Selection = "structure" if name in STRUCTURES else "main"
        whole = explore(scenario, workers, selection=selection)
        cases = list(whole.cases)
        for point in POINTS.get(name, ()):
            if point not in [row.case for row in cases]:
                cases += explore(
                    scenario, workers, selection="main", graph_case=point.label, graphs=False
                ).cases
        return msgspec.structs.replace(whole, cases=tuple(cases))

    return lambda name: made(name, os.environ.get(VARIABLES["jax"]))


@pytest.fixture(scope="session")
def listings() -> Iterator[Listings]:
    """Runs listings of PyTorch; tests that ask for it carry the marker ``torch``."""
    with running_listings() as process:
        yield process


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where Chromium is; tests that ask for it carry the marker ``browser``."""
    assert CHROMIUM
    return CHROMIUM


class ByWorkUnit(LoadScopeScheduling):  # type: ignore[misc]  # xdist ships no types
    """Of several processes, one runs all tests on a scenario, and one all tests on a topic."""

    def _split_scope(self, nodeid: str) -> str:
        return work_unit(nodeid)


@pytest.hookimpl(optionalhook=True)  # under `-p no:xdist` nobody calls it
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByWorkUnit:
    """Called by xdist; its own grouping by marks does nothing under pytest 9.2."""
    config.option.loadscopereorder = False  # a unit of few tests may be the longest
    return ByWorkUnit(config, log)


NEEDS: dict[str, tuple[bool, str]] = {
    "mindspore": (find_spec("mindspore") is not None, "pip install mindspore"),
    "torch": (find_spec("torch") is not None, "pip install torch"),
    "jax": (is_found("jax"), "pip install jax==0.6.2, or name an environment that has it"),
    "browser": (CHROMIUM is not None, "apt-get install chromium"),
}
"""What a marker says that a test needs: whether it is here, and how to get it."""


OPTIONAL = ("jax",)
"""What need not be here, even under CI."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose marker names what is not here; under CI, where all of it must be, fail."""
    for name, (is_here, remedy) in NEEDS.items():
        if is_here or item.get_closest_marker(name) is None:
            continue
        reason = f"{item.name} is marked {name}, which is not here: `{remedy}`"
        if os.environ.get("CI") and name not in OPTIONAL:
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
