"""The tables of mistakes fit their nets, and the nets, sets and variants are what they promise."""

import ast
from pathlib import Path

import msgspec
import pytest

from tests.planted.clean import variants
from tests.planted.facts import FACT_KINDS, Fact
from tests.planted.halves import FILES, both_halves
from tests.planted.library import (
    IN_PORTS,
    LIBRARY,
    MISTAKES,
    SETS,
    SHIPPED,
    STRANGERS,
    decoded,
    fitting,
)
from tests.planted.mistake import Mistake, has_nets, plant, plant_all
from tests.planted.naming import TAPES
from tests.support.twin_nets import with_changes

BESIDE_JAX = (("jax-tape", "torch-tape"), ("jax-tape", "mindspore-tape"))

VARIANTS = dict(variants())

MINIMAL = Mistake("m", "gpt", "mindspore", "nn.GELU()", "nn.ReLU()", ("self.gelu(self.c_fc(x))",))

ROW = b"""
[gpt.other_gelu]
in = "torch"
old = "a"
new = "b"
facts = [{ kind = "argument", values = [[1, 2], "None"] }]
"""


# The tables


def test_a_row_is_a_mistake_of_its_net_whose_values_are_python_s() -> None:
    (mistake,) = decoded(ROW).values()
    fact = Fact("argument", values=((1, 2), None))
    assert mistake == Mistake("other_gelu", "gpt", "torch", "a", "b", facts=(fact,))
    assert decoded(ROW.replace(b'in = "torch"\n', b""))["gpt-other_gelu"].framework == "mindspore"


@pytest.mark.parametrize(
    ("right", "wrong"), [(b"new", b"knew"), (b"torch", b"caffe"), (b"values", b"value")]
)
def test_a_row_with_another_key_or_framework_is_refused(right: bytes, wrong: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        decoded(ROW.replace(right, wrong))


def test_there_are_as_many_as_promised() -> None:
    assert len(FILES) >= 20
    assert len(LIBRARY) >= 200
    assert len(MISTAKES) >= 60
    assert len(SETS) >= 50
    assert len(VARIANTS) >= 80
    assert len({mistake.kind for mistake in LIBRARY.values()}) >= 90
    assert {mistake.framework for mistake in LIBRARY.values()} == {"mindspore", "torch"}
    assert not set(LIBRARY).intersection(MISTAKES)


def test_there_are_at_least_thirty_beside_either_framework() -> None:
    for framework in ("jax", "torch"):
        assert sum(mistake.framework == framework for mistake in SHIPPED.values()) >= 15
    for engines in BESIDE_JAX:
        assert len(fitting(engines)) >= 30
    assert fitting(TAPES) == LIBRARY


def test_every_net_has_mistakes_a_set_and_variants() -> None:
    assert {mistake.scenario for mistake in LIBRARY.values()} == FILES.keys()
    assert {mistakes[0].scenario for mistakes in SETS.values()} == FILES.keys()
    for net in FILES:
        assert any(name.startswith(f"{net}_") for name in VARIANTS)


def test_strangers_are_in_nets_of_their_own_and_fit_both_pairs() -> None:
    others = {mistake.scenario for name, mistake in SHIPPED.items() if name not in STRANGERS}
    nets = [mistake.scenario for mistake in STRANGERS.values()]
    assert len(set(nets)) == len(nets) == 14
    assert others.isdisjoint(nets)
    assert MISTAKES.keys().isdisjoint(STRANGERS)
    for mistake in STRANGERS.values():
        assert any(mistake.is_between(engines) for engines in BESIDE_JAX)
        assert all(has_nets(mistake.text, engines) for engines in BESIDE_JAX)


# Mistakes, facts, sets and variants fit the nets


@pytest.mark.slow
def test_every_mistake_fits_its_net_and_is_told_at_few_lines(tmp_path: Path) -> None:
    amiss = []
    for table in (LIBRARY, MISTAKES, SHIPPED, IN_PORTS):
        for name, mistake in table.items():
            try:
                planted = plant(mistake, tmp_path)
                ast.parse(planted.path.read_text(encoding="utf-8"))
            except (ValueError, SyntaxError) as error:
                amiss.append(f"{name}: {error}")
                continue
            if not 1 <= len(planted.lines) <= 12:
                amiss.append(f"{name}: {len(planted.lines)} lines tell it")
    assert not amiss, "\n".join(amiss)


def test_mistakes_have_facts_of_all_kinds_that_say_what_differs() -> None:
    amiss = []
    for name, mistake in {**LIBRARY, **SHIPPED, **IN_PORTS}.items():
        if not mistake.facts or (name in LIBRARY and not mistake.kind):
            amiss.append(f"{name}: without facts, or a kind")
        net = mistake.text
        amiss += [f"{name}: {fact}" for fact in mistake.facts if not _says_what_differs(fact, net)]
    assert not amiss, "\n".join(amiss)
    assert {fact.kind for mistake in LIBRARY.values() for fact in mistake.facts} == set(FACT_KINDS)


def _says_what_differs(fact: Fact, net: str) -> bool:
    """Whether a fact is of a known kind, its line is in the net, and its two values are not one."""
    two_values = not fact.values or (len(fact.values) == 2 and fact.values[0] != fact.values[1])
    return fact.kind in FACT_KINDS and fact.line in net and fact.factor != 1.0 and two_values


@pytest.mark.slow
def test_the_mistakes_of_a_set_stand_in_one_net(tmp_path: Path) -> None:
    for mistakes in SETS.values():
        assert 2 <= len(mistakes) <= 4
        records = plant_all(mistakes, tmp_path)
        text = records[0].path.read_text(encoding="utf-8")
        ast.parse(text)
        assert len({record.path for record in records}) == 1
        for mistake, record in zip(mistakes, records, strict=True):
            assert mistake.new in text
            assert record.lines


def test_variants_have_texts_of_their_own() -> None:
    texts = {*VARIANTS.values(), *map(both_halves, FILES)}
    assert len(texts) == len(VARIANTS) + len(FILES)
    for text in texts:
        ast.parse(text)


def test_the_other_half_of_a_net_has_changed_lines_at_their_depth_and_stale_ones_are_refused() -> (
    None
):
    half = "    def forward(self, x):\n        return x.view(2)\n"
    changes = "- return x.view(2)\n+ y = 2 * x\n+ return y.reshape(2)\n"
    own = "    def construct(self, x):\n        y = 2 * x\n        return y.reshape(2)\n"
    assert with_changes(half, changes) == own
    with pytest.raises(ValueError, match=r"do not stand in PyTorch's half:\n- return y"):
        with_changes(half, "- return y\n")


# How a mistake is planted


def test_changed_lines_and_those_of_snippets_tell_a_mistake_and_no_others(tmp_path: Path) -> None:
    planted = plant(MINIMAL, tmp_path)
    lines = planted.path.read_text(encoding="utf-8").splitlines()
    assert [lines[number - 1].strip() for number in sorted(planted.lines)] == [
        "self.gelu = nn.ReLU()",
        "return self.c_proj(self.gelu(self.c_fc(x)))",
        "return self.c_proj(self.gelu(self.c_fc(x)))",
    ]
    inside = {lines[number - 1].strip() for number in planted.module_lines}
    assert "class MLP(nn.Cell):" in inside
    assert "class Block(nn.Cell):" not in inside


def test_a_set_has_the_lines_of_each_mistake_where_an_earlier_one_moves_them(
    tmp_path: Path,
) -> None:
    left_out = LIBRARY["gru_by_hand-not_turned_back"]
    later = LIBRARY["gru_by_hand-squared_error"]
    alone = plant(later, tmp_path).lines
    _, behind = plant_all((left_out, later), tmp_path)
    assert behind.lines == {line - 1 for line in alone}


@pytest.mark.parametrize(
    ("old", "snippet"), [("nn.Dense(", ""), ("nowhere", ""), ("nn.GELU()", "stands nowhere")]
)
def test_a_table_that_does_not_fit_the_net_is_refused(
    old: str, snippet: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="m: "):
        plant(Mistake("m", "gpt", "mindspore", old, "new()", (snippet,)), tmp_path)


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (
            ("spatial_gating-first_token_for_mean", "spatial_gating-mean_before_norm"),
            "another mistake replaces the same text",
        ),
        (("gru_by_hand-squared_error", "lstm_by_hand-forget_bias"), "several scenarios"),
    ],
)
def test_mistakes_in_the_same_text_or_in_several_nets_are_refused(
    names: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=says):
        plant_all(tuple(LIBRARY[name] for name in names), tmp_path)
