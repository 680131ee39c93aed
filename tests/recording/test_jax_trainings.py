"""A net trained in JAX with optax beside PyTorch: equal steps, and what is said where they differ."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from explorer.engines.trained_net import RATE
from explorer.exploration.recordings import checked_engines, compared, report_at, trained
from explorer.model.arrays import unpack
from explorer.model.training import Training
from explorer.scenario.load import load
from explorer.words import causes as words
from explorer.workers.workers import Workers
from tests.support.narrowing import present
from tests.support.needs import skip_without

pytestmark = [pytest.mark.jax, pytest.mark.torch]

NET = Path(__file__).resolve().parents[1] / "nets" / "trained_in_jax.py"

STEPS = 4

ADAM = "optax.adam(1e-2)"


@pytest.fixture(scope="module", autouse=True)
def _has_optax() -> None:
    skip_without("optax")


Trained = Callable[..., dict[str, Training]]


@pytest.fixture
def train(workers: Workers, tmp_path: Path) -> Trained:
    """Trains the net, with texts in the place of others, in PyTorch and JAX or in some engines."""

    def trainings(
        *changes: tuple[str, str], engines: tuple[str, ...] = ("torch-tape", "jax-tape")
    ) -> dict[str, Training]:
        text = NET.read_text()
        for old, new in changes:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        path = tmp_path / "net_in_jax.py"
        path.write_text(text)
        scenario = load(path)
        made = trained(scenario, workers, checked_engines(engines, scenario), STEPS)
        assert [training.missing for training in made.values()] == [()] * len(engines)
        return made

    return trainings


@pytest.mark.parametrize(
    ("in_torch", "in_optax", "name"),
    [
        ("torch.optim.Adam(net.parameters(), 1e-2)", "optax.adam(1e-2)", "adam"),
        ("torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)", "optax.sgd(0.1, 0.9)", "sgd"),
        (
            "torch.optim.SGD(net.parameters(), 0.1, momentum=0.9, nesterov=True)",
            "optax.sgd(0.1, 0.9, nesterov=True)",
            "sgd",
        ),
        (
            "torch.optim.AdamW(net.parameters(), 1e-2, weight_decay=0.1)",
            "optax.adamw(1e-2, weight_decay=0.1)",
            "adamw",
        ),
    ],
)
def test_the_same_rule_makes_the_same_updates_and_state(
    in_torch: str, in_optax: str, name: str, train: Trained
) -> None:
    in_place = ("torch.optim.Adam(net.parameters(), 1e-2)", in_torch), (ADAM, in_optax)
    of_torch, of_jax = train(*in_place).values()
    assert of_jax.optimizer == f"optax.{name}"
    comparison = compared(of_torch, of_jax)
    assert comparison.difference is None
    answered = {answer.question for answer in comparison.answers if answer.status == "same"}
    assert {"loss", "gradients", "update", "state", "weights"} <= answered


@pytest.mark.parametrize(
    ("made", "family"),
    [
        ("optax.sgd(0.1, 0.9)", "SGD"),
        ("optax.adam(1e-2)", "Adam"),
        ("optax.adamw(1e-2, weight_decay=0.1)", "Adam"),
        ("optax.chain(optax.add_decayed_weights(0.1), optax.adam(1e-2))", "Adam"),
        ("optax.rmsprop(1e-2)", "RMSprop"),
        ("optax.adagrad(1e-1)", "Adagrad"),
    ],
)
def test_the_functions_of_optax_do_what_is_known_of_them(
    made: str, family: str, train: Trained
) -> None:
    (of_jax,) = train((ADAM, made), engines=("jax-tape",)).values()
    comparison = compared(of_jax, of_jax)
    statuses = {answer.question: answer.status for answer in comparison.answers}
    assert (statuses["update"], statuses["state"]) == ("same", "same")
    assert present(comparison.rule).kind == family


@pytest.mark.parametrize(
    ("made", "setting", "values"),
    [
        ("optax.adam(1e-2, eps=1e-3)", "eps", (1e-8, 1e-3)),
        ("optax.adam(2e-2)", "lr", (1e-2, 2e-2)),
        ("optax.adam(1e-2, b2=0.99)", "beta2", (0.999, 0.99)),
        ("optax.adam(optax.exponential_decay(1e-2, 1, 0.5))", "lr", (1e-2, 5e-3)),
    ],
)
def test_what_the_rules_have_unlike_is_named(
    made: str, setting: str, values: tuple[float, float], train: Trained
) -> None:
    difference = present(compared(*train((ADAM, made)).values()).difference)
    assert (difference.question, difference.reason) == ("update", "rule")
    (unlike,) = difference.unlike
    assert unlike.name == setting
    assert (unlike.left, unlike.right) == pytest.approx(values)


def test_another_activation_is_found_in_the_graphs_of_the_step(
    train: Trained, workers: Workers
) -> None:
    of_torch, of_jax = train(("approximate=False", "approximate=True")).values()
    comparison = compared(of_torch, of_jax)
    assert comparison.difference is not None
    assert (comparison.difference.question, comparison.difference.step) == ("gradients", 1)
    report = present(report_at(of_torch, of_jax, comparison, workers))
    (alignment,) = report.alignments

    assert "jax.nn.gelu(…, approximate=False)" in words.cause(alignment)


def test_without_an_optimizer_both_descend_and_clip_alike(workers: Workers, tmp_path: Path) -> None:
    source, _, rest = NET.read_text().partition("def torch_optimizer")
    jax = rest.partition("def jax_net")[2].partition("def jax_optimizer")[0]
    path = tmp_path / "net_in_jax.py"
    path.write_text(f"{source}CLIP_NORM = 0.01\n\n\ndef jax_net{jax}")
    of_torch, of_jax = trained(load(path), workers, ("torch-tape", "jax-tape"), STEPS).values()
    comparison = compared(of_torch, of_jax)
    assert comparison.difference is None
    statuses = {answer.question: answer.status for answer in comparison.answers}
    assert (statuses["given"], statuses["update"], statuses["weights"]) == ("same", "same", "same")
    assert present(comparison.rule).settings["lr"] == RATE
    for training in (of_torch, of_jax):
        given = [unpack(leaf.value) for leaf in training.steps[0].given]
        assert np.sqrt(sum((array**2).sum() for array in given)) == pytest.approx(0.01, rel=1e-4)
