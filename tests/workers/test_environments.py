"""The environments of workers that write MindSpore's graphs down."""

from pathlib import Path

from explorer.workers.environments import SETTINGS, capture_environment


def test_only_a_worker_that_is_to_read_values_has_every_kernel_dumped(tmp_path: Path) -> None:
    full = capture_environment(tmp_path)
    bare = capture_environment(tmp_path, values=False)
    assert Path(full[SETTINGS]).is_file()
    assert bare == {name: value for name, value in full.items() if name != SETTINGS}
