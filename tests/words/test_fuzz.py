"""Findings about random nets in both languages."""

from typing import get_args

import pytest

from explorer.fuzz.sightings import KNOWN
from explorer.model.alignment import Plain, Unpaired
from explorer.model.fuzz import FindingClass, Kind, Sighting
from explorer.text.language import _, said_in
from explorer.words import fuzz
from tests.support.sample_report import DIVERGENCE

PAIR = ("torch-tape", "mindspore-tape")
REFUTED = Unpaired(node="n4", side="left", reason="refuted", why=Plain("disproved"))


@pytest.mark.parametrize(
    ("sighting", "english", "chinese"),
    [
        (Sighting("raises", PAIR[:1], ("ValueError: a", "b")), "ValueError: a | b", None),
        (Sighting("differs", PAIR, leaf="da"), "da", None),
        (
            Sighting("differs", PAIR, leaf="da", is_finite=False),
            "da: a number that is not finite against one that is",
            "da：一方为非有限数，另一方为有限数",
        ),
        (Sighting("graph", PAIR[:1], problem="no op"), "no graph: no op", "没有梯度图：no op"),
        (
            Sighting("graph", PAIR[:1], pair=PAIR, contradiction=REFUTED),
            "n4: running its op again on the recorded inputs gives another value",
            None,
        ),
    ],
)
def test_what_the_engines_of_a_sighting_report(
    sighting: Sighting, english: str, chinese: str | None
) -> None:
    assert fuzz.detail(sighting) == english
    if chinese:
        with said_in("zh"):
            assert fuzz.detail(sighting) == chinese


def test_a_divergence_is_said_in_the_reader_s_language() -> None:
    sighting = Sighting("values", PAIR, pair=PAIR, divergence=DIVERGENCE)
    assert fuzz.detail(sighting).startswith("First divergence in ")
    with said_in("zh"):
        assert "首个分歧点" in fuzz.detail(sighting)


def test_a_finding_is_one_line() -> None:
    sighting = Sighting("differs", ("mindspore-tape",), leaf="da")
    net = fuzz.about(["tanh", "mul"], "float32", 2)
    line = "the explorer is wrong: differs (tanh, mul, float32, order 2): mindspore-tape: da"
    assert fuzz.finding("ours", sighting, (), net) == line
    known = fuzz.finding("known", sighting, ("one", "other"), fuzz.about((), "float64", 1))
    assert known == "known: differs (no operator, float64, order 1): mindspore-tape: one; other"


def test_the_counts_are_one_line_in_both_languages() -> None:
    seen: dict[Kind, int] = {"agrees": 48, "refused": 2, "raises": 10}
    known: FindingClass = "known"
    found: list[FindingClass] = ["ours", *([known] * 9)]
    assert fuzz.summary(seen, found, 110.4) == (
        "60 nets in 110 s: 48 agree, 2 rejected; 10 findings: 1 the explorer is wrong, 9 known"
    )
    assert fuzz.summary({"agrees": 1}, (), 3) == "1 net in 3 s: 1 agree, 0 rejected; 0 findings"
    with said_in("zh"):
        assert fuzz.summary({"agrees": 1}, ["known"], 3) == (
            "1 个网络，用时 3 秒：1 个一致，0 个被拒绝；1 个发现：1 个已知"
        )


def test_every_kind_class_and_recorded_reason_has_its_text() -> None:
    assert set(fuzz.KINDS) == set(get_args(Kind))
    assert set(fuzz.CLASSES) == set(get_args(FindingClass))
    with said_in("zh"):
        assert [reason for reason in KNOWN if _(reason) == reason] == []
