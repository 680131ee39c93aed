"""Replies of engines that are kept: which requests have one, when it is of use, what is not kept."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.exploration.explore import explore
from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.causes import TrialsRequest
from explorer.model.failures import Failure, Loss
from explorer.model.mended import MendedRun
from explorer.model.requests import CaseRequest, NetRequest, Nothing
from explorer.model.results import About, Captured, Estimate, Obstacle, OracleResult, Result
from explorer.scenario.load import load
from explorer.scenario.replies import KeptReplies, net_of, placeless
from explorer.store.store import Store
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.nets import NETS
from tests.support.scenario_files import written

NET = NetRequest(scenario=str(NETS / "square.py"), engine="torch-tape")
CASE = CaseRequest(NET, GradCase("grad", 0))
TARGET = "explorer.engines.torch.tape:answer"
RESULT = Result(outcome="ok")


@pytest.fixture
def replies(tmp_path: Path) -> KeptReplies:
    return KeptReplies(Store(tmp_path / "store"))


class Told(Workers):
    """Workers whose replies are made up; notes what they were asked."""

    def __init__(self, reply: object) -> None:
        super().__init__()
        self.reply = reply
        self.asked: list[str] = []

    def _ask(self, kind: Any, target: str, argument: Any, reply: Any) -> Any:
        self.asked.append(target)
        return self.reply


def asked(replies: KeptReplies, reply: object, argument: msgspec.Struct = CASE) -> int:
    """How often workers are asked for what is wanted twice."""
    told = Told(reply)
    crew = told.keeping(replies)
    for _ in range(2):
        assert crew.call("torch", TARGET, argument, type(reply)) == reply
    return len(told.asked)


def test_what_was_replied_is_not_asked_again(replies: KeptReplies) -> None:
    assert asked(replies, RESULT) == 1


def test_a_fresh_store_asks_and_keeps(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    assert asked(KeptReplies(Store(folder, fresh=True)), RESULT) == 2
    assert asked(KeptReplies(Store(folder)), RESULT) == 0


def estimated(*kinds: str) -> OracleResult:
    obstacles = tuple(Obstacle(kind, 1) for kind in kinds)  # type: ignore[arg-type]
    return OracleResult("ok", (Estimate("dx", pack(np.ones(1)), obstacles=obstacles),))


FAILED = Failure("RuntimeError", "out of memory: tried to allocate 2 GB")


@pytest.mark.parametrize(
    ("reply", "times"),
    [
        (About({"torch": "2.13.0"}, ("cpu",)), 1),
        (About({"torch": "2.13.0"}, ("cpu", "cuda:0")), 2),
        (estimated("kinks"), 1),
        (estimated("kinks", "time"), 2),
        (MendedRun(None), 2),
        (Result(outcome="raised", error=Failure("ValueError", "a net may raise")), 1),
        (Result(outcome="raised", error=FAILED), 2),
        (Captured((), Result(outcome="raised", error=FAILED)), 2),
        (Captured((), RESULT), 1),
        (Lost("crashed", Loss(kind="closed")), 2),
    ],
)
def test_a_reply_that_may_be_another_one_the_next_time_is_not_kept(
    reply: object, times: int, replies: KeptReplies
) -> None:
    assert asked(replies, reply) == times


def key_of(replies: KeptReplies, argument: msgspec.Struct, target: str = TARGET) -> object:
    return replies.key("torch", target, argument)


def test_each_part_of_a_request_counts(replies: KeptReplies) -> None:
    net = msgspec.structs.replace(NET, jitter=1)
    start = msgspec.structs.replace(NET, parameters={"w": pack(np.ones(1))})
    keys = [
        key_of(replies, CASE),
        key_of(replies, CASE, "explorer.engines.torch.tape:capture"),
        key_of(replies, CaseRequest(NET, GradCase("grad", 0, "all"))),
        key_of(replies, CaseRequest(net, CASE.case)),
        key_of(replies, CaseRequest(start, CASE.case)),
        key_of(replies, TrialsRequest(CASE, ())),
        key_of(replies, Nothing()),
    ]
    assert None not in keys
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("torch", "explorer.topics.in_worker:run"),
        ("torch", "tests.support.worker_targets:echo"),
        ("sweep", "explorer.engines.torch.tape:answer"),
    ],
)
def test_what_is_no_engines_reply_is_always_asked(
    kind: str, target: str, replies: KeptReplies
) -> None:
    assert replies.key(kind, target, CASE) is None


def test_a_file_that_is_gone_has_no_key(replies: KeptReplies) -> None:
    gone = NetRequest(scenario=str(NETS / "no such file.py"), engine="torch-tape")
    assert key_of(replies, gone) is None


def test_a_reply_on_a_file_that_is_changed_meanwhile_is_not_kept(
    replies: KeptReplies, tmp_path: Path
) -> None:
    path = written(tmp_path, "SIDE = 1\n", "net.py")
    net = NetRequest(scenario=str(path), engine="torch-tape")

    class Changing(Told):
        def _ask(self, kind: Any, target: str, argument: Any, reply: Any) -> Any:
            path.write_text(f"SIDE = {len(self.asked)}\n")
            return super()._ask(kind, target, argument, reply)

    told = Changing(RESULT)
    crew = told.keeping(replies)
    path.write_text("SIDE = 2\n")
    crew.call("torch", TARGET, net, Result)  # writes 0
    crew.call("torch", TARGET, net, Result)  # writes 1
    path.write_text("SIDE = 0\n")
    crew.call("torch", TARGET, net, Result)  # writes 2
    assert len(told.asked) == 3


def test_the_net_of_a_request_is_found_however_deep_and_its_place_does_not_count() -> None:
    request = TrialsRequest(CASE, ())
    assert net_of(request) == NET
    elsewhere = msgspec.structs.replace(NET, scenario="elsewhere/square.py")
    there = TrialsRequest(CaseRequest(elsewhere, CASE.case), ())
    assert placeless(request) == placeless(there)
    assert net_of(Nothing()) is None


class Counted(Workers):
    """Real workers; notes which kinds were asked."""

    def __init__(self) -> None:
        super().__init__(request_seconds=300)
        self.kinds: list[str] = []

    def _ask(self, kind: Any, target: str, argument: Any, reply: Any) -> Any:
        self.kinds.append(kind.partition("-")[0])
        return super()._ask(kind, target, argument, reply)


@pytest.mark.mindspore
@pytest.mark.torch
def test_a_change_of_one_frameworks_net_asks_the_other_nothing(
    replies: KeptReplies, tmp_path: Path
) -> None:
    text = (NETS / "square.py").read_text()
    path = written(tmp_path, text, "square.py")
    engines = ("mindspore-tape", "torch-tape")
    counted = Counted()
    with counted:
        crew = counted.keeping(replies)

        def run() -> tuple[object, set[str]]:
            counted.kinds.clear()
            report = explore(load(path), crew, engines=engines, selection="main")
            return report, set(counted.kinds)

        first, kinds = run()
        assert kinds == {"mindspore", "torch"}
        assert run() == (first, set())  # all of it again from the replies

        before, _, after = text.partition("def torch_net")
        path.write_text(before.replace("(x * x)", "(x * x * 1)") + "def torch_net" + after)
        changed, kinds = run()
        assert kinds == {"mindspore"}
        assert changed != first

        path.write_text(before + "def torch_net" + after.replace("(x * x)", "(x * 1 * x)"))
        assert run()[1] == {"torch"}
