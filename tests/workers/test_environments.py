"""The environments of MindSpore's workers: what they write down, and what they wait for."""

from pathlib import Path

import pytest

from explorer.model.engines import WorkerKind
from explorer.workers.environments import SETTINGS, capture_environment
from explorer.workers.workers import Workers
from tests.support.worker_targets import Word


def test_only_a_worker_that_is_to_read_values_has_every_kernel_dumped(tmp_path: Path) -> None:
    full = capture_environment(tmp_path)
    bare = capture_environment(tmp_path, values=False)
    assert Path(full[SETTINGS]).is_file()
    assert bare == {name: value for name, value in full.items() if name != SETTINGS}


@pytest.mark.mindspore
@pytest.mark.parametrize(
    ("kind", "raised"),
    [("mindspore", "at once"), ("mindspore-second", "at once"), ("mindspore-plain", "read")],
)
def test_a_tape_waits_for_each_operator_but_where_time_and_memory_are_measured(
    kind: WorkerKind, raised: str
) -> None:
    target = "tests.support.worker_targets:failure_of_an_operator"
    # Workers of its own: once an operator has run, MindSpore takes no device any more.
    with Workers() as workers:
        assert workers.call(kind, target, Word(""), Word) == Word(raised)
