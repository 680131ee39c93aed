"""The page of studies: when it was measured, the first findings, and the others a click away."""

from pathlib import Path

import msgspec
import pytest

from explorer.model.measurement import Measured
from explorer.web.offered_scenarios import VARIABLE
from explorer.web.studies_page import (
    FIRST_FINDINGS,
    _findings,
    show_record,
    studies,
    studies_of_a_scenario,
)
from tests.support.pages import address, opened, said, shown
from tests.support.sample_study import RECORD
from tests.support.scenario_files import MINIMAL, written

pytestmark = pytest.mark.slow


def test_a_study_says_when_it_was_measured_and_its_first_findings() -> None:
    findings = [f"finding {number} <b>" for number in range(FIRST_FINDINGS + 2)]
    measured = {
        "late": Measured(outcome="ok", date="2026-03-01"),
        "early": Measured(outcome="ok", date="2026-02-01"),
    }
    record = msgspec.structs.replace(RECORD, measured=measured, findings=tuple(findings))
    page = shown(show_record, record)
    assert not page.exception
    assert "2026\\-02\\-01" in page.caption[0].value
    first, further, *_ = (block.value for block in page.markdown)
    assert first.count("- finding") == FIRST_FINDINGS
    assert further.count("- finding") == 2
    assert page.expander[0].label.startswith("2 ")
    assert len(page.dataframe) == 1
    assert "<b>" not in said(page).replace("\\<b", "")


@pytest.mark.parametrize(
    ("more", "labels"), [(0, []), (1, ["1 more finding"]), (2, ["2 more findings"])]
)
def test_what_is_a_click_away_is_counted(more: int, labels: list[str]) -> None:
    page = shown(_findings, ["a finding"] * (FIRST_FINDINGS + more))
    assert [fold.label for fold in page.expander] == labels


def test_studies_of_a_scenario_are_those_that_take_one() -> None:
    names = studies_of_a_scenario()
    assert "devices" in names
    assert "operators" not in names


def chooser() -> None:
    import streamlit as st

    from explorer.topics import study_topic
    from explorer.web.links import CHOICE, remember
    from explorer.web.studies_page import _first_scenario, scenario_in_sight

    remember(CHOICE, {"scenario": st.session_state["seen"]})
    if "before" in st.session_state:
        st.text(_first_scenario(study_topic("devices"), st.session_state["before"]))
    else:
        for name in ("devices", "training"):
            st.text(scenario_in_sight(study_topic(name)))


def test_a_study_begins_with_the_scenario_that_was_looked_at_or_that_the_owner_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened(chooser, {"seen": "lstm"})
    assert page.text[0].value == "lstm"
    assert address(page) == {"scenario": "lstm"}
    page = opened(chooser, {"seen": ""})
    assert [block.value for block in page.text] == ["dense_mse", ""]
    monkeypatch.setenv(VARIABLE, str(written(tmp_path, MINIMAL, "mine.py")))
    assert opened(chooser, {"seen": ""}).text[0].value == "mine"


def test_a_study_turns_to_the_scenario_that_was_looked_at_since() -> None:
    page = opened(chooser, {"seen": "lstm", "before": "polynomial"})
    assert page.text[0].value == "polynomial"
    page.session_state["seen"] = "kinks"
    assert page.run().text[0].value == "kinks"
    assert page.run().text[0].value == "polynomial"
    # That of its address stays.
    page = opened(chooser, {"seen": "lstm", "before": "polynomial"}, on="polynomial")
    page.session_state["seen"] = "kinks"
    assert page.run().text[0].value == "polynomial"


def test_a_device_that_there_cannot_be_is_one_message() -> None:
    page = shown(studies, study="devices", device="abacus")
    assert not page.exception
    (error,) = page.error
    assert "abacus" in error.value
    assert page.selectbox(key="device").value == "abacus"
