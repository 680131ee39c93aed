"""Fixtures of all tests: the workers, each scenario's report, a browser; what is missing is skipped."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler.loadscope import LoadScopeScheduling

from explorer.environments.known import is_found
from explorer.exploration.explore import explore
from explorer.folders import STORE
from explorer.model.cases import GradCase
from explorer.model.report import Report
from explorer.scenario.find import find, real_names
from explorer.scenario.load import load
from explorer.scenario.replies import KeptReplies
from explorer.scenario.selection import Selection
from explorer.shipped import PACKAGE
from explorer.store.store import REPLIES, Store
from explorer.workers.workers import Workers
from tests.support.listings import Listings, running_listings
from tests.support.remembering_workers import Remembering
from tests.support.work_units import work_unit

# On a busy machine everything takes long: no test may fail for that.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# A shell's background job ignores Ctrl-C, and so would the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

NUMBERS = count()
"""The numbers of the stores of this process's tests."""

KEPT = PACKAGE.parent / "out" / "tests"
"""The store of what workers have replied in this working copy, which a fresh clone has not."""

CHROMIUM = shutil.which("chromium")

BOTH, WITH_VALUE = GradCase("grad", (0, 1)), GradCase("value_and_grad", (0, 1))
BY_FIRST, BY_SECOND = GradCase("grad", 0), GradCase("grad", 1)
LOSS_BY_FIRST, LOSS_BY_BOTH = GradCase("grad", 0, None, True), GradCase("grad", (0, 1), None, True)
SEEDED = GradCase("GradOperation", (0, 1), get_all=True, sens_param=True)

POINTS: dict[str, tuple[GradCase, ...]] = {
    "aliased_input": (BY_FIRST,),
    "embedding_repeats": (BY_FIRST, GradCase("grad", None, "all")),
    "float16_underflow": (BOTH, LOSS_BY_BOTH),
    "in_place_update": (BY_FIRST, LOSS_BY_FIRST),
    "integer_input": (BY_FIRST, BY_SECOND),
    "kinks": (BY_FIRST, BY_SECOND),
    "physics_informed": (BOTH, WITH_VALUE),
    "unused_input": (BOTH, BY_SECOND, WITH_VALUE),
    "vector_chain": (BOTH, LOSS_BY_FIRST, SEEDED),
}
"""Cases that show the point of a scenario, asked beside those that show each way to ask."""

STRUCTURES = {
    *POINTS,
    "attention_block",
    "batch_norm_train",
    "custom_gradient",
    "linear_bce",
    "lstm",
}
"""Scenarios that are asked each way to ask once; of the others the case that asks for most.

CI asks every case of them all (``--whole``); of those modelled on published nets always that one."""

GUIDES_NET = "dense_mse"
"""The scenario of which every case is asked in every run: the net of MindSpore's own guide."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--whole``."""
    parser.addoption(
        "--whole",
        action="store_true",
        help="ask every case of every scenario, and run the tests marked whole too: half an hour",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without ``--whole``, leaves out the tests that only it runs; the long ones go first."""
    # What is short comes last, and the processes end at about the same time.
    items.sort(key=_needs_nothing)
    if config.getoption("--whole"):
        return
    left_out = [item for item in items if item.get_closest_marker("whole")]
    if left_out:
        items[:] = [item for item in items if not item.get_closest_marker("whole")]
        config.hook.pytest_deselected(items=left_out)


def _needs_nothing(item: pytest.Item) -> bool:
    """Whether a test has no marker that says that it takes a while, or what it needs."""
    return not any(item.get_closest_marker(name) for name in ("slow", *NEEDS))


@pytest.fixture(scope="session")
def workers() -> Iterator[Remembering]:
    """The worker processes of the whole session; a test that harms its workers makes its own.

    What they have replied, to other tests or in an earlier run of this working copy, is not asked again.
    """
    with Remembering() as crew:
        crew.replies = KeptReplies(Store(KEPT))
        yield crew


@pytest.fixture(scope="session", autouse=True)
def _session_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is asked once for many tests is not stored in the user's own folder, nor taken from it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(STORE, str(_with_replies(tmp_path_factory.getbasetemp() / "store")))
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


def _with_replies(store: Path) -> Path:
    """The folder of a store that shares the replies of all tests."""
    (KEPT / REPLIES).mkdir(parents=True, exist_ok=True)
    store.mkdir()
    (store / REPLIES).symlink_to(KEPT / REPLIES, target_is_directory=True)
    return store


@pytest.fixture
def warm(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands called in this process use the session's workers: starting them takes seconds."""
    for command in ("claims", "scenario", "study", "installation"):
        monkeypatch.setattr(f"explorer.cli.{command}.Workers", lambda *_: nullcontext(workers))


@pytest.fixture(scope="session")
def report(workers: Workers, pytestconfig: pytest.Config) -> Callable[[str], Report]:
    """Gives the report on a shipped scenario by its name; the first who asks pays for it."""
    is_whole = pytestconfig.getoption("--whole")
    modelled = real_names()

    @cache
    def report_on(name: str) -> Report:
        scenario = load(find(name))
        if (is_whole and name not in modelled) or name == GUIDES_NET:
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

    return report_on


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
