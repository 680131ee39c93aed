"""How a worker was lost: a fact in records, and a text in the reader's language."""

from typing import get_args

import pytest

from explorer.model.errors import WorkerFaultError
from explorer.model.failures import Failure, Loss, LossKind
from explorer.model.results import Result
from explorer.shipped import PACKAGE
from explorer.text.failures import LOSSES, loss_text, message
from explorer.text.language import said_in
from explorer.words.answers import answer
from explorer.workers.protocol import Lost


@pytest.mark.parametrize(
    ("loss", "english", "chinese"),
    [
        (
            Loss(kind="died", code=-9, output="Killed"),
            "the worker process died (signal 9); its error output ends with:\nKilled",
            "工作进程异常终止（信号 9）；其错误输出的末尾是：\nKilled",
        ),
        (
            Loss(kind="died", code=5),
            "the worker process died (exit code 5)",
            "工作进程异常终止（退出码 5）",
        ),
        (
            Loss(kind="died"),
            "the worker process died (reason unknown)",
            "工作进程异常终止（原因不明）",
        ),
        (
            Loss(kind="no_answer", amount=2.5),
            "no answer within 2.5 s; raise --request-timeout to wait longer",
            "2.5 秒内没有应答；可增大 --request-timeout",
        ),
        (
            Loss(kind="memory", amount=1536.4),
            "the worker exceeded its memory limit of 1536 MB; set EXPLORER_WORKER_MB to allow more",
            "工作进程超出了 1536 MB 的内存上限；可设置 EXPLORER_WORKER_MB 以放宽",
        ),
    ],
)
def test_a_loss_is_recorded_as_a_fact_and_said_in_the_reader_s_language(
    loss: Loss, english: str, chinese: str
) -> None:
    failure = Lost("crashed", loss).failure
    assert failure == Failure("crashed", loss=loss)
    assert message(failure) == loss_text(loss) == english
    with said_in("zh"):
        assert message(failure) == chinese
        result = Result(outcome="crashed", error=failure)
        assert chinese.splitlines()[0].split("；")[0] in answer(result)


def test_an_error_of_a_framework_is_said_as_it_is() -> None:
    with said_in("zh"):
        assert message(Failure("ValueError", "no")) == "no"


def test_a_fault_of_the_explorer_is_no_loss_of_the_worker() -> None:
    own, other = f'File "{PACKAGE}/a.py", line 7', 'File "/home/explorer/net.py", line 3'
    fault = WorkerFaultError(f"Traceback:\n  {own}\n  {other}\nKeyError: 'x'\n").loss
    assert Lost("crashed", fault).is_fault
    assert not Lost("crashed", Loss(kind="died")).is_fault
    said = "internal error of the explorer in a worker: KeyError: 'x' (explorer/a.py:7)"
    assert loss_text(fault) == said


def test_every_kind_of_loss_has_its_text() -> None:
    assert set(LOSSES) == set(get_args(LossKind))
