"""How a sweep ends: by what is different, or with a recorded sweep by what has changed."""

import pytest

from explorer.cli.exit_codes import AS_EXPECTED, DIFFERENT, LOST
from explorer.cli.sweep import _exit_code
from explorer.sweep.records import Change
from tests.support.sweeps import row, sweep

CHANGE = Change(name="net", what="a", before="match", now="differs")


@pytest.mark.parametrize(
    ("verdict", "changes", "code"),
    [
        ("as_expected", None, AS_EXPECTED),
        ("different", None, DIFFERENT),
        # What was different when it was recorded, and is so now, is nothing new.
        ("different", (), AS_EXPECTED),
        ("different", (CHANGE,), DIFFERENT),
        ("as_expected", (CHANGE,), DIFFERENT),
        ("lost", None, LOST),
        ("refused", (), LOST),
        ("lost", (CHANGE,), LOST),
    ],
)
def test_what_is_lost_counts_before_changes_and_changes_before_differences(
    verdict: str, changes: tuple[Change, ...] | None, code: int
) -> None:
    assert _exit_code(sweep(row("alike"), row("net", verdict=verdict)), changes) == code
