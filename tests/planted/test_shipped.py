"""Mistakes in the shipped nets are named where JAX's engines run one of the two."""

import ast
from pathlib import Path

import pytest

from explorer.compare.causes.jax_mends import OF_TORCH
from explorer.correspondence.table import OPS
from explorer.exploration.explore import explore
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.words.causes import cause as cause_text
from explorer.words.divergences import first_divergence
from explorer.workers.workers import Workers
from tests.planted.causes import tell_causes
from tests.planted.library import LIBRARY
from tests.planted.mistake import has_nets, plant
from tests.planted.mistakes import MISTAKES
from tests.planted.naming import TAPES
from tests.planted.shipped import IN_JAX, IN_TORCH, SHIPPED, fitting
from tests.planted.strangers import STRANGERS
from tests.support.samples import sampled

BESIDE_TORCH = ("jax-tape", "torch-tape")
BESIDE_MINDSPORE = ("jax-tape", "mindspore-tape")

NAMED = (
    ("vicreg-population_variance", BESIDE_TORCH, "`jnp.var(…, ddof=1)` in JAX's net"),
    ("squeeze_excite-relu_for_silu", BESIDE_TORCH, "`jax.nn.silu(…)` in JAX's net"),
    ("arcface-scale_left_out", BESIDE_TORCH, "its logits times 16"),
    ("vicreg-population_variance", BESIDE_MINDSPORE, "`jnp.std(…, ddof=1)` in JAX's net"),
    ("focal_loss-weight_of_the_focus", BESIDE_MINDSPORE, "`… ** 2.0` in JAX's net"),
    ("bottleneck-axes_of_the_norm", BESIDE_TORCH, "with `axes=(0, 2, 3)` in the place of"),
    ("resnet_inference-sum_after_relu_in_mindspore", BESIDE_MINDSPORE, "with `max` before `add"),
    ("vit_block-last_token_for_first", BESIDE_MINDSPORE, "with `start_indices=(0, 0, 0)`"),
    (
        "bottleneck-pooling_padded_on_one_side_in_mindspore",
        BESIDE_MINDSPORE,
        "with `padding=(0, 0, 0, 0, 0, 1, 0, 1)`",
    ),
    (
        "mixture_of_experts-probability_of_the_mean_score",
        BESIDE_TORCH,
        "with `aten.mean.dim` before `aten._softmax",
    ),
    (
        "lstm_tagger-one_bias_of_two",
        BESIDE_MINDSPORE,
        "reads the parameter `lstm.bias_hh_l0`, which nothing in jax-tape reads",
    ),
)
"""Mistakes, the engines that are compared, and what their cause says."""

CLEAN = (("vicreg", BESIDE_TORCH), ("dqn", BESIDE_MINDSPORE), ("simclr", BESIDE_TORCH))


def test_there_are_at_least_thirty_beside_either_framework() -> None:
    assert len(IN_JAX) >= 15
    assert len(IN_TORCH) >= 15
    for engines in (BESIDE_TORCH, BESIDE_MINDSPORE):
        assert len(fitting(engines)) >= 30
    assert set(fitting(TAPES)) == set(LIBRARY)


def test_strangers_are_in_nets_of_their_own_and_fit_both_pairs() -> None:
    others = {mistake.scenario for name, mistake in SHIPPED.items() if name not in STRANGERS}
    nets = [mistake.scenario for mistake in STRANGERS.values()]
    assert len(set(nets)) == len(nets) == 14
    assert others.isdisjoint(nets)
    assert MISTAKES.keys().isdisjoint(STRANGERS)
    for mistake in STRANGERS.values():
        pairs = (BESIDE_TORCH, BESIDE_MINDSPORE)
        assert any(mistake.is_between(engines) for engines in pairs)
        assert all(has_nets(mistake.original, engines) for engines in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_a_mistake_fits_its_net_and_has_facts(name: str, tmp_path: Path) -> None:
    planted = plant(SHIPPED[name], tmp_path)
    ast.parse(planted.path.read_text(encoding="utf-8"))
    assert 1 <= len(planted.lines) <= 12
    assert SHIPPED[name].facts


def test_what_is_said_in_jax_s_words_is_said_of_functions_in_the_table() -> None:
    rows = {row.torch: {it.torch for it in row.arguments} for row in OPS}
    for name, call in OF_TORCH.items():
        assert call.arguments.keys() - {"keepdim", "dim", "ord"} <= rows[name], name


@pytest.mark.jax
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("named", sampled(NAMED, 1, (NAMED[0], NAMED[3])), ids=str)
def test_the_cause_of_a_mistake_beside_jax_is_named_in_jax_s_words(
    named: tuple[str, tuple[str, str], str], tmp_path: Path, workers: Workers
) -> None:
    name, engines, says = named
    mistake = SHIPPED[name]
    (told,) = tell_causes([(mistake, plant(mistake, tmp_path))], engines, workers)
    assert told.verdict == "cause", told.sentence
    assert says in told.sentence


@pytest.mark.jax
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("port", sampled(CLEAN, 1), ids=str)
def test_nothing_is_named_where_a_port_is_right(
    port: tuple[str, tuple[str, str]], workers: Workers
) -> None:
    name, engines = port
    report = explore(load(find(name)), workers, engines=engines, selection="main", oracle=False)
    (alignment,) = report.alignments
    assert (first_divergence(alignment), cause_text(alignment)) == ("", "")
