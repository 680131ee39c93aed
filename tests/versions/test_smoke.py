"""What the smoke of other versions takes: nothing is installed for what is no version."""

import sys

import pytest

from tests.support.command_line import ran


@pytest.mark.slow
@pytest.mark.parametrize(
    "typed", ["keras==3.12.0", "torch", "torch>=2.2", "mindspore==2.x", "torch==2.2+cu121"]
)
def test_what_is_no_version_of_a_framework_is_told_in_a_line(typed: str) -> None:
    command = [sys.executable, "-m", "tests.versions.smoke", "mindspore==2.7.0", typed]
    done = ran(*command, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].endswith(
        f"{typed!r}: not a version of a framework, such as 'mindspore==2.7.0'"
    )
