"""The library of mistakes fits its nets; nets, mistakes, sets and variants are what they promise."""

import ast
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from explorer.exploration.explore import explore
from explorer.model.report import Report
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.planted.clean import variants, write_variants
from tests.planted.facts import FACT_KINDS
from tests.planted.library import LIBRARY
from tests.planted.mistake import NETS, plant, plant_all
from tests.planted.mistakes import MISTAKES
from tests.planted.naming import TAPES
from tests.planted.sets import SETS
from tests.support.samples import sampled

NET_NAMES = sorted(file.stem for file in NETS.glob("*.py"))


def drawn(names: Iterable[str], count: int) -> list[Any]:
    """Some of many, of which one is run without ``--whole``; ``benchmarks/causes.py`` runs them all."""
    return sampled(random.Random(7).sample(sorted(names), count), 1)


SAMPLED_MISTAKES = drawn(LIBRARY, 16)
SAMPLED_SETS = drawn(SETS, 6)
SAMPLED_NETS = sampled(NET_NAMES, 1)
SAMPLED_VARIANTS = drawn((name for name, _ in variants()), 8)


def test_there_are_as_many_as_promised() -> None:
    assert len(NET_NAMES) >= 20
    assert len(LIBRARY) >= 200
    assert len(SETS) >= 50
    assert len(list(variants())) >= 80


def test_mistakes_of_one_net_have_names_of_their_own() -> None:
    keys = {(mistake.scenario, mistake.name) for mistake in LIBRARY.values()}
    assert len(keys) == len(LIBRARY)
    assert not set(LIBRARY).intersection(MISTAKES)


def test_there_are_at_least_ninety_kinds_in_both_frameworks() -> None:
    assert len({mistake.kind for mistake in LIBRARY.values()}) >= 90
    assert {mistake.framework for mistake in LIBRARY.values()} == {"mindspore", "torch"}


def test_every_net_has_mistakes_a_set_and_variants() -> None:
    assert {mistake.scenario for mistake in LIBRARY.values()} == set(NET_NAMES)
    assert {mistakes[0].scenario for mistakes in SETS.values()} == set(NET_NAMES)
    for net in NET_NAMES:
        assert [name for name, _ in variants() if name.startswith(f"{net}_")]


def test_every_kind_of_fact_is_stated_and_no_other() -> None:
    stated = {fact.kind for mistake in LIBRARY.values() for fact in mistake.facts}
    assert stated == set(FACT_KINDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARY)
def test_a_mistake_fits_its_net_and_has_facts(name: str, tmp_path: Path) -> None:
    mistake = LIBRARY[name]
    planted = plant(mistake, tmp_path)
    ast.parse(planted.path.read_text(encoding="utf-8"))
    assert 1 <= len(planted.lines) <= 12
    assert mistake.kind
    assert mistake.facts
    net = mistake.original.read_text(encoding="utf-8")
    for fact in mistake.facts:
        assert fact.line in net
        assert fact.factor != 1.0
        assert len(fact.values) in (0, 2)
        assert fact.values == () or fact.values[0] != fact.values[1]


@pytest.mark.parametrize("name", SETS)
def test_the_mistakes_of_a_set_stand_in_one_net(name: str, tmp_path: Path) -> None:
    mistakes = SETS[name]
    assert 2 <= len(mistakes) <= 4
    records = plant_all(mistakes, tmp_path)
    text = records[0].path.read_text(encoding="utf-8")
    ast.parse(text)
    assert len({record.path for record in records}) == 1
    for mistake, record in zip(mistakes, records, strict=True):
        assert mistake.new in text
        assert record.lines


def test_a_set_has_the_lines_of_each_mistake_where_an_earlier_one_moves_them(
    tmp_path: Path,
) -> None:
    left_out, later = (
        LIBRARY["gru_by_hand-not_turned_back"],
        LIBRARY["gru_by_hand-squared_error"],
    )
    alone = plant(later, tmp_path).lines
    _, behind = plant_all((left_out, later), tmp_path)
    assert behind.lines == {line - 1 for line in alone}


def test_mistakes_in_the_same_text_or_in_several_nets_are_refused(tmp_path: Path) -> None:
    once = LIBRARY["gru_by_hand-squared_error"]
    other = LIBRARY["lstm_by_hand-forget_bias"]
    with pytest.raises(ValueError, match="another mistake replaces the same text"):
        plant_all(
            (
                LIBRARY["spatial_gating-first_token_for_mean"],
                LIBRARY["spatial_gating-mean_before_norm"],
            ),
            tmp_path,
        )
    with pytest.raises(ValueError, match="several scenarios"):
        plant_all((once, other), tmp_path)


def test_variants_have_texts_of_their_own() -> None:
    texts = {text for _, text in variants()}
    texts.update(file.read_text(encoding="utf-8") for file in NETS.glob("*.py"))
    assert len(texts) == len(list(variants())) + len(NET_NAMES)
    for text in texts:
        ast.parse(text)


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("name", SAMPLED_NETS)
def test_a_net_is_the_same_in_both_frameworks(name: str, workers: Workers) -> None:
    assert not _differs(NETS / f"{name}.py", workers)


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("name", SAMPLED_VARIANTS)
def test_a_variant_is_the_same_in_both_frameworks(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    assert not _differs(write_variants(tmp_path)[name], workers)


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("name", SAMPLED_MISTAKES)
def test_a_mistake_makes_a_difference(name: str, tmp_path: Path, workers: Workers) -> None:
    if LIBRARY[name].kind == "cast":
        pytest.skip("a cast to float16 differs by less than the noise of float16")
    assert _differs(plant(LIBRARY[name], tmp_path).path, workers)


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("name", SAMPLED_SETS)
def test_a_set_makes_a_difference(name: str, tmp_path: Path, workers: Workers) -> None:
    assert _differs(plant_all(SETS[name], tmp_path)[0].path, workers)


def _differs(file: Path, workers: Workers) -> bool:
    """Whether results, or values of the graphs, of the two tapes differ.

    A loss and running statistics are no result of a gradient: the graphs alone have them.
    """
    report = explore(load(file), workers, engines=TAPES, selection="main")
    return _graphs_differ(report) or report.cases[0].verdict == "differs"


def _graphs_differ(report: Report) -> bool:
    assert report.alignments, report.ungraphed
    return report.alignments[0].divergence is not None
