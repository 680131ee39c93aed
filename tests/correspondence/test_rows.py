"""Every row of the table is true: both sides, run with translated arguments, give the same."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from explorer.correspondence.records import Argument, Row
from explorer.correspondence.table import LAYERS, ROWS
from explorer.correspondence.ways import COMPANIONS
from tests.correspondence.answers import Answer, Raised
from tests.correspondence.comparing import answers, disagreements, run
from tests.correspondence.settings import COUNT, Setting, settings

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

SAMPLE = 2
"""Settings of each row without --whole."""

UNSEEN = {("torch.nn.PReLU", "init"): "the test sets the weight that it initializes"}
"""Arguments without which nothing changes here, and why."""


class Runs:
    """All settings, and what both frameworks answered."""

    def __init__(self, count: int, folder: Path) -> None:
        self.folder = folder
        self.settings = [setting for row in ROWS for setting in settings(row, count)]
        self.mindspore, self.torch = answers(self.settings, folder)

    def wrong(self) -> dict[str, list[str]]:
        """What does not agree, by row."""
        found: dict[str, list[str]] = defaultdict(list)
        everything = zip(self.settings, self.mindspore, self.torch, strict=True)
        for setting, here, there in everything:
            for text in disagreements(setting, here, there):
                calls = f"{setting.mindspore.arguments} {setting.torch.arguments}"
                found[f"{setting.row.mindspore} {setting.row.torch}"].append(f"{text}: {calls}")
        return dict(found)


@pytest.fixture(scope="module")
def runs(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    count = COUNT if pytestconfig.getoption("--whole") else SAMPLE
    return Runs(count, tmp_path_factory.mktemp("correspondence"))


def test_both_sides_of_every_row_give_the_same(runs: Runs) -> None:
    assert runs.wrong() == {}


def test_a_layer_has_the_weights_that_its_row_names(runs: Runs) -> None:
    named: dict[str, set[str]] = defaultdict(set)
    for setting, answer in zip(runs.settings, runs.mindspore, strict=True):
        if isinstance(answer, Answer):
            named[setting.row.mindspore] |= answer.own_names
    for row in LAYERS:
        plain = {re.sub(r"^bn2d\.", "", name) for name in named[row.mindspore]}
        assert plain <= set(row.weights), row.mindspore
        assert bool(plain) == bool(row.weights), row.mindspore


@pytest.mark.whole
def test_an_argument_that_is_not_translated_is_noticed(runs: Runs) -> None:
    """Without each argument in turn, PyTorch gives something else in one setting at least."""
    planted = list(_planted(runs))
    asked = [setting.torch for _name, setting, _answer in planted]
    found = run("in_torch", asked, runs.folder)
    noticed: dict[tuple[str, str], bool] = {}
    for (name, setting, here), there in zip(planted, found, strict=True):
        differs = bool(list(disagreements(setting, here, there)))
        noticed[name] = noticed.get(name, False) or differs
    unnoticed = {name for name, is_noticed in noticed.items() if not is_noticed}
    assert len(noticed) > 150
    assert sorted(unnoticed) == sorted(UNSEEN)


def _planted(runs: Runs) -> Iterator[tuple[tuple[str, str], Setting, Answer | Raised]]:
    for setting, here in zip(runs.settings, runs.mindspore, strict=True):
        for argument in setting.row.arguments:
            given = setting.torch.arguments.get(argument.torch, argument.torch_default)
            if not _is_tried(argument) or given == argument.torch_default:
                continue
            others = {**setting.torch.arguments}
            del others[argument.torch]
            call = setting.torch._replace(arguments=others)
            yield (setting.row.torch, argument.torch), setting._replace(torch=call), here


def _is_tried(argument: Argument) -> bool:
    return bool(argument.mindspore and argument.torch) and argument.way not in COMPANIONS


WRONG = (
    ("nn.BatchNorm2d", "momentum", "same"),
    ("nn.LRN", "alpha", "same"),
    ("nn.LayerNorm", "epsilon", "one_minus"),
    ("nn.Dropout", "p", "same"),
)
"""Layers, an argument, and a way that is not the argument's."""


def test_a_wrong_way_is_noticed(tmp_path: Path) -> None:
    wrong: list[Setting] = []
    for name, argument, way in WRONG:
        (row,) = [row for row in LAYERS if row.mindspore == name]
        wrong += settings(_with_way(row, argument, way), 8)
    noticed: set[str] = set()
    for setting, here, there in zip(wrong, *answers(wrong, tmp_path), strict=True):
        if list(disagreements(setting, here, there)):
            noticed.add(setting.row.mindspore)
    assert noticed == {name for name, _argument, _way in WRONG}


def _with_way(row: Row, name: str, way: str) -> Row:
    arguments: list[Argument] = []
    for argument in row.arguments:
        if argument.mindspore == name:
            argument = msgspec.structs.replace(argument, way=way)
        arguments.append(argument)
    return msgspec.structs.replace(row, arguments=tuple(arguments))
