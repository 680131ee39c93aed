"""The changelog keeps the form of keepachangelog.com: versions with dates, groups, short lines."""

import re
from datetime import date

import explorer
from tests.support.command_line import ROOT

TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
GROUPS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")

LONGEST = 150
"""Letters in a line that is still read at one glance."""


def test_the_installed_version_is_the_newest_after_what_is_not_released() -> None:
    first, *released = re.findall(r"^## (.*)$", TEXT, re.MULTILINE)
    assert first == "Unreleased"
    names = [name.split(" - ") for name in released]
    assert names[0][0] == explorer.__version__
    days = [date.fromisoformat(day) for _, day in names]
    assert days == sorted(days, reverse=True)


def test_every_entry_is_in_a_group_and_is_short() -> None:
    for version in TEXT.split("\n## ")[1:]:
        before, *groups = version.split("\n### ")
        assert "\n- " not in before
        assert [group.partition("\n")[0] for group in groups] == [
            name for name in GROUPS if any(group.startswith(f"{name}\n") for group in groups)
        ]
    assert [line for line in TEXT.splitlines() if len(line) > LONGEST] == []
    assert TEXT.count("\n- ") > 50
