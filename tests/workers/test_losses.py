"""How a worker was lost, in English where it is recorded and in the reader's language elsewhere."""

from typing import get_args

import pytest

from explorer.model.results import Failure, Loss, LossKind, Result
from explorer.text.language import said_in
from explorer.words.answers import answer
from explorer.workers.protocol import TEXTS, Lost, loss_text, message


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
def test_a_loss_is_recorded_in_english_and_said_in_the_reader_s_language(
    loss: Loss, english: str, chinese: str
) -> None:
    lost = Lost("crashed", loss)
    assert loss_text(loss) == english
    with said_in("zh"):
        assert message(lost.failure) == chinese
        assert lost.failure.message == lost.detail == english
        result = Result(outcome="crashed", error=lost.failure)
        assert chinese.splitlines()[0].split("；")[0] in answer(result)


def test_an_error_of_a_framework_is_said_as_it_is() -> None:
    with said_in("zh"):
        assert message(Failure("ValueError", "no")) == "no"
    assert Lost("crashed", "KeyError: 'x'").failure == Failure("crashed", "KeyError: 'x'")


def test_every_kind_of_loss_has_its_text() -> None:
    assert set(TEXTS) == set(get_args(LossKind))
