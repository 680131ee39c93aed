"""What is known of versions: which were tried, and what is limited with each."""

import re

import pytest

from explorer.model.engines import FRAMEWORK_LABELS, NEEDED, Framework
from explorer.model.versions import TRIED, first_with, version_facts
from explorer.shipped import PACKAGE

PAGE = PACKAGE.parent / "docs" / "reference" / "versions.md"


@pytest.mark.parametrize(
    ("framework", "version", "limits"),
    [
        ("torch", "2.2.2+cu121", ["gradient_in_forward", "written_leaf"]),
        ("torch", "2.9.1", ["gradient_in_forward", "written_leaf"]),
        ("torch", "2.10.0", ["gradient_in_forward"]),
        ("torch", "2.11.0", []),
        ("mindspore", "2.7.0", ["tape_graph", "noise"]),
        ("mindspore", "2.8.0", ["backward_operators", "noise"]),
        ("mindspore", "2.9.0", []),
        ("mindspore", "3.0", []),
    ],
)
def test_a_limit_ends_with_the_first_version_that_has_it(
    framework: Framework, version: str, limits: list[str]
) -> None:
    facts = version_facts(framework, version)
    assert [limit.what for limit in facts.limits] == limits
    assert {limit.engine.partition("-")[0] for limit in facts.limits} <= {framework}


def test_a_version_was_tried_by_its_first_two_numbers() -> None:
    assert version_facts("torch", "2.13.1+cpu").tried
    assert not version_facts("torch", "2.12.0").tried
    assert not version_facts("mindspore", "2.13.0").tried


def test_of_a_version_that_is_no_number_nothing_is_known() -> None:
    facts = version_facts("torch", "main")
    assert (facts.tried, facts.limits) == (False, ())


@pytest.mark.parametrize("framework", NEEDED)
def test_the_page_on_versions_records_what_was_tried(framework: Framework) -> None:
    rows = re.findall(rf"^\| {FRAMEWORK_LABELS[framework]} (\d+)\.(\d+)", PAGE.read_text(), re.M)
    assert {(int(major), int(minor)) for major, minor in rows} == set(TRIED[framework])


def test_noise_and_operators_of_the_backward_come_by_one_feature_of_mindspore() -> None:
    assert first_with("noise") == first_with("backward_operators")  # MsDispatchMode
