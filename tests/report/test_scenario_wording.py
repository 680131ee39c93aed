"""Short readings of calls and errors."""

from explorer.model.failures import Failure
from explorer.model.results import Result
from explorer.words import answers


def test_mindspore_errors_are_shown_without_its_own_sources_and_addresses() -> None:
    sources = f"\n\n{'-' * 52}\n- C++ Call Stack: (For framework developers)\nx.cc:1"
    message = f"For 'grad', it can not be None (value_ptr: 0x557529f56740).{sources}"
    shown = answers.failure(Failure("ValueError", message))
    assert shown == "ValueError: For 'grad', it can not be None (value_ptr: 0x…)."


def test_a_lost_worker_is_named_once() -> None:
    died = Failure("crashed", "the worker process died (signal 11)")
    lost = Result(outcome="crashed", error=died)
    assert answers.answer(lost) == "crashed: the worker process died (signal 11)"
    refused = Result(outcome="unsupported", error=Failure("Unsupported", "a branch"))
    assert answers.answer(refused).endswith("Unsupported: a branch")
