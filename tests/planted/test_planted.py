"""Planted mistakes make a difference and are named at their lines; nets without one do not differ."""

import random
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from explorer.exploration.explore import explore
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.words.causes import cause as cause_text
from explorer.words.divergences import first_divergence
from explorer.workers.workers import Workers
from tests.planted.causes import tell_causes
from tests.planted.clean import variants, write_variants
from tests.planted.halves import FILES, both_halves
from tests.planted.library import IN_PORTS, LIBRARY, MISTAKES, SETS, SHIPPED
from tests.planted.mistake import Mistake, plant, plant_all
from tests.planted.naming import TAPES, tell
from tests.planted.own_names import with_own_names
from tests.support.samples import sampled, some_rows
from tests.support.scenario_files import written
from tests.support.tables import rows

pytestmark = pytest.mark.torch

BESIDE_TORCH = ("jax-tape", "torch-tape")
BESIDE_MINDSPORE = ("jax-tape", "mindspore-tape")

ONCE_WRONG = ("gpt-head_not_tied", "simclr-temperature_multiplied", "clip-one_direction_twice")
"""Mistakes that were named at a wrong place once, or refused; a finding names the first."""

WHOSE_CAUSE_IS_NAMED = tuple(
    name for (name,) in rows(__file__, "the cause of a planted mistake is named")
)

NAMED_BESIDE_JAX = rows(__file__, "the cause of a mistake beside JAX is named in JAX's words")

CLEAN = (("vicreg", BESIDE_TORCH), ("dqn", BESIDE_MINDSPORE), ("simclr", BESIDE_TORCH))


def drawn(names: Iterable[str], count: int, size: int) -> list[Any]:
    """Some of many, of which ``size`` are run without ``--whole``; ``benchmarks/causes.py`` runs all."""
    return sampled(random.Random(7).sample(sorted(names), count), size)


# Named


def one_a_net(mistakes: dict[str, Mistake]) -> list[str]:
    """The names of a mistake of each net, drawn; ``benchmarks/planted.py`` runs all."""
    of_nets = defaultdict[str, list[str]](list)
    for name, mistake in sorted(mistakes.items()):
        of_nets[mistake.scenario].append(name)
    return [random.Random(7).choice(names) for names in of_nets.values()]


@pytest.mark.mindspore
@pytest.mark.parametrize(
    "name", sampled(sorted({*one_a_net(MISTAKES), *ONCE_WRONG}), 0, ONCE_WRONG[:1])
)
def test_a_planted_mistake_is_named_at_its_line(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    planted = plant(MISTAKES[name], tmp_path)
    told = tell(planted, TAPES, workers)
    assert told.verdict == "exact", (told, sorted(planted.lines))


@pytest.mark.mindspore
@pytest.mark.parametrize("name", sampled(WHOSE_CAUSE_IS_NAMED, 0, WHOSE_CAUSE_IS_NAMED[:1]))
def test_the_cause_of_a_planted_mistake_is_named(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    mistake = LIBRARY[name]
    (told,) = tell_causes([(mistake, plant(mistake, tmp_path))], TAPES, workers)
    assert told.verdict == "cause", told.sentence


@pytest.mark.jax
@pytest.mark.mindspore
@pytest.mark.parametrize(
    ("name", "engine", "says"),
    some_rows(NAMED_BESIDE_JAX, NAMED_BESIDE_JAX[0], NAMED_BESIDE_JAX[3]),
)
def test_the_cause_of_a_mistake_beside_jax_is_named_in_jax_s_words(
    name: str, engine: str, says: str, tmp_path: Path, workers: Workers
) -> None:
    mistake = SHIPPED[name]
    engines = ("jax-tape", engine)
    (told,) = tell_causes([(mistake, plant(mistake, tmp_path))], engines, workers)
    assert told.verdict == "cause", told.sentence
    assert says in told.sentence


OWN_NAMES = tuple(
    name
    for name, mistake in sorted(LIBRARY.items())
    if mistake.framework == "mindspore"
    and mistake.scenario in ("rotary_block", "padded_language_model", "upsampling_unet")
    # Where no name says which layer is which, two may be exchanged, and one table is either of two.
    and mistake.name not in ("gate_and_value_swapped", "head_not_tied")
)


@pytest.mark.mindspore
@pytest.mark.parametrize("name", sampled(OWN_NAMES, 1))
def test_a_mistake_in_a_port_with_names_of_its_own_is_named_at_its_line(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    planted = plant(LIBRARY[name], tmp_path)
    text = planted.path.read_text(encoding="utf-8")
    planted.path.write_text(with_own_names(text, "mindspore"), encoding="utf-8")
    told = tell(planted, TAPES, workers)
    assert told.verdict == "exact", (told, sorted(planted.lines))


@pytest.mark.jax
@pytest.mark.parametrize("name", drawn(IN_PORTS, 5, 1))
def test_a_mistake_in_a_port_to_flax_is_named_at_its_line(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    planted = plant(IN_PORTS[name], tmp_path)
    told = tell(planted, BESIDE_TORCH, workers)
    assert told.verdict == "exact", (told, sorted(planted.lines))


# A difference, or none


@pytest.mark.jax
@pytest.mark.mindspore
@pytest.mark.whole
@pytest.mark.parametrize("port", CLEAN, ids=str)
def test_nothing_is_named_where_a_port_is_right(
    port: tuple[str, tuple[str, str]], workers: Workers
) -> None:
    name, engines = port
    report = explore(load(find(name)), workers, engines=engines, selection="main", oracle=False)
    (alignment,) = report.alignments
    assert (first_divergence(alignment), cause_text(alignment)) == ("", "")


@pytest.mark.mindspore
@pytest.mark.whole
@pytest.mark.parametrize("name", sorted(FILES))
def test_a_net_is_the_same_in_both_frameworks(name: str, tmp_path: Path, workers: Workers) -> None:
    assert not _differs(written(tmp_path, both_halves(name)), workers)


@pytest.mark.mindspore
@pytest.mark.parametrize("name", drawn((name for name, _ in variants()), 8, 1))
def test_a_variant_is_the_same_in_both_frameworks(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    assert not _differs(write_variants(tmp_path)[name], workers)


@pytest.mark.mindspore
@pytest.mark.parametrize("name", [*drawn(SETS, 6, 0), *drawn(LIBRARY, 16, 0)])
def test_a_mistake_or_a_set_of_them_makes_a_difference(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    mistakes = SETS.get(name) or (LIBRARY[name],)
    if mistakes[0].kind == "cast":
        pytest.skip("a cast to float16 differs by less than the noise of float16")
    assert _differs(plant_all(mistakes, tmp_path)[0].path, workers)


def _differs(file: Path, workers: Workers) -> bool:
    """Whether results, or values of the graphs, of the two tapes differ.

    A loss and running statistics are no result of a gradient: the graphs alone have them.
    """
    report = explore(load(file), workers, engines=TAPES, selection="main")
    assert report.alignments, report.ungraphed
    return report.alignments[0].divergence is not None or report.cases[0].verdict == "differs"
