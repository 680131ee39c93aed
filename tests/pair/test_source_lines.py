"""The lines of source that the panel shows around one."""

from pathlib import Path

import pytest

from explorer.pair.details import AROUND, source_lines

LAST = 20


@pytest.mark.parametrize("at", [1, 2, AROUND + 1, 10, LAST - AROUND, LAST - 1, LAST])
def test_as_many_lines_are_shown_before_a_line_as_behind_it(at: int, tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text("".join(f"line{number} = {number}\n" for number in range(1, LAST + 1)))
    shown = source_lines(f"net.py:{at}", [tmp_path])
    assert shown.at == at
    numbers = [number for number, _ in shown.lines]
    assert numbers == [n for n in range(1, LAST + 1) if abs(n - at) <= AROUND]
    assert all(text == f"line{number} = {number}" for number, text in shown.lines)
