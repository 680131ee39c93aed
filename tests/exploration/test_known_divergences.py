"""Divergences that are known, in nets of the real frameworks, and mistakes of which nothing is known."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from explorer.compare.known.table import ROWS
from explorer.compare.results.remarks import CONVENTIONS
from explorer.exploration.explore import explore
from explorer.model.alignment import Alignment
from explorer.model.known import Reference
from explorer.scenario.load import load
from explorer.words.known import SURPRISES
from explorer.workers.workers import Workers
from tests.support.known_nets import MISTAKES, NETS, Net, file_with
from tests.support.samples import some


def aligned(net: Net, folder: Path, workers: Workers) -> Alignment:
    scenario = load(file_with(net, folder))
    report = explore(scenario, workers, engines=net.engines, selection="main", oracle=False)
    (alignment,) = report.alignments
    return alignment


def written_short(references: Iterable[Reference]) -> tuple[str, ...]:
    return tuple(it.name if it.kind == "surprise" else f"claim {it.name}" for it in references)


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("name", some(NETS | MISTAKES, "momentum", "relu for gelu"))
def test_what_is_known_of_the_first_divergence_is_named_and_nothing_of_a_mistake_at_the_same_op(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    net = (NETS | MISTAKES)[name]
    alignment = aligned(net, tmp_path, workers)
    assert alignment.divergence
    assert written_short(alignment.seen[0].known) == net.known
    if not net.known:
        assert {one.known for one in alignment.seen} == {()}


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
def test_what_is_seen_as_if_mended_is_named_too(tmp_path: Path, workers: Workers) -> None:
    net = Net(
        mindspore="h = ops.exp(x)\nh.mul_(2.0)\nreturn (h * h).sum()",
        torch="h = torch.tanh(x)\nh = h.exp() * 2.0\nreturn (h * h).sum()",
        inputs="x=normal(4, 6)",
    )
    alignment = aligned(net, tmp_path, workers)
    assert alignment.mended
    assert [written_short(one.known) for one in alignment.seen] == [(), ("in_place_nothing",)]


def test_each_row_has_a_net_and_each_surprise_of_a_row_a_title() -> None:
    every_row = [*ROWS["forward"], *ROWS["backward"]]
    in_rows = {name for row in every_row for name in written_short([row.reference])}
    assert in_rows == {name for net in NETS.values() for name in net.known}
    references = [*(row.reference for row in every_row), *CONVENTIONS.values()]
    assert SURPRISES.keys() == {it.name for it in references if it.kind == "surprise"}
