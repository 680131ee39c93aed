"""The IR of several versions of MindSpore: every file is read, and nothing in it is lost."""

import re
from collections import Counter
from functools import cache

import pytest

from explorer.engines.mindspore.ir import Module, parse
from explorer.engines.mindspore.ir_statements import program
from explorer.scenario.find import names, real_names
from tests.ir_samples.recorded import programs, versions
from tests.support.ir_texts import nodes_of

pytestmark = pytest.mark.slow

NODE = re.compile(r"^  (?:%\d+\(.*?\) = |Return\()", re.MULTILINE)
"""The beginning of a statement."""

TYPES = re.compile(r"^      : \(.*", re.MULTILINE)
"""The types of a statement."""

VIEW_MARK = re.compile(r"is_view_input|is_view_output|has_view_output")
"""Marks of values that came with version 2.8."""

LINE = re.compile(r"^      # In file (\S+?):(\d+)", re.MULTILINE)
"""A line of code under a statement."""

VERSIONS = ("2.10.0", "2.7.0", "2.8.0", "2.9.0")

NEWEST, *OLDER = VERSIONS

EACH_VERSION = [NEWEST, *[pytest.param(version, marks=pytest.mark.whole) for version in OLDER]]


@cache
def modules(version: str) -> dict[str, Module]:
    return {name: parse(text, name) for name, text in programs(version).items()}


def test_the_recorded_versions_are_those_that_are_supported() -> None:
    assert tuple(versions()) == VERSIONS


@pytest.mark.parametrize("version", EACH_VERSION)
def test_every_shipped_net_is_recorded_unless_the_version_refuses_it(version: str) -> None:
    shipped = {f"scenarios.{name}" for name in names()}
    shipped |= {f"scenarios.{name.replace('/', '.')}" for name in real_names()}
    refused = {"2.7.0": {"scenarios.embedding_repeats"}}
    assert shipped - set(programs(version)) == refused.get(version, set())


@pytest.mark.parametrize("version", EACH_VERSION)
def test_every_node_of_every_program_is_read(version: str) -> None:
    for name, text in programs(version).items():
        nodes = nodes_of(modules(version)[name])
        assert len(nodes) == len(NODE.findall(text)), name
        assert len(nodes) > 2, name


@pytest.mark.parametrize("version", EACH_VERSION)
def test_every_operator_is_a_statement_of_the_program(version: str) -> None:
    for name, module in modules(version).items():
        statements = [one for body in program(module).values() for one in body]
        assert len(statements) == len(nodes_of(module)), name
        assert all(one.op for one in statements), name


@pytest.mark.parametrize("version", EACH_VERSION)
def test_every_line_of_code_is_read_in_its_order(version: str) -> None:
    for name, text in programs(version).items():
        read = []
        for node in nodes_of(modules(version)[name]):
            sources = (*node.sources, *node.forward_sources, *node.similar_sources)
            read += [(source.file, str(source.line)) for source in sources]
        assert Counter(read) == Counter(LINE.findall(text)), name


@pytest.mark.parametrize("version", EACH_VERSION)
def test_marks_of_views_are_carried_along_at_every_value(version: str) -> None:
    for name, text in programs(version).items():
        printed = Counter(VIEW_MARK.findall("\n".join(TYPES.findall(text))))
        carried: Counter[str] = Counter()
        for node in nodes_of(modules(version)[name]):
            outputs = (node.output,) if node.output else ()
            for abstract in (*node.inputs, *outputs):
                carried.update(mark for mark in abstract.marks if VIEW_MARK.fullmatch(mark))
        assert carried == printed, name


@pytest.mark.whole
def test_some_versions_print_marks_of_views() -> None:
    with_marks = [
        version
        for version in VERSIONS
        if any(VIEW_MARK.search(text) for text in programs(version).values())
    ]
    assert with_marks == ["2.10.0", "2.8.0", "2.9.0"]


@pytest.mark.parametrize("version", EACH_VERSION)
def test_programs_hold_no_folder_of_the_machine_that_recorded_them(version: str) -> None:
    for name, text in programs(version).items():
        assert [file for file, _ in LINE.findall(text) if file.startswith("/")] == [], name
