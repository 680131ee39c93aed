"""The verdict with its size."""

import pytest

from explorer.words.cases import sized


@pytest.mark.parametrize(
    ("verdict", "size", "text"),
    [
        ("differs", "3", "differs by 3"),
        ("differs", "1.2e-05, 3,800 × the noise", "differs by 1.2e-05, 3,800 × the noise"),
        ("differs", "structure", "differs in structure"),
        ("close", "2e-08", "close 2e-08"),
    ],
)
def test_a_size_is_no_count(verdict: str, size: str, text: str) -> None:
    assert sized(verdict, size) == text
