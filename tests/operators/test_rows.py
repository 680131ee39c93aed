"""The table is true of the installed frameworks: rows, facts beside them, names and defaults.

Each framework answers everything in one process.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import msgspec
import pytest

from explorer.model.engines import NEEDED, Framework
from explorer.operators.records import UNKNOWN, Absent, Argument, Default, Drawn, Row, Side
from explorer.operators.table import correspondences
from explorer.operators.ways import COMPANIONS
from tests.operators.answers import Answer, Answered, Asked, Raised
from tests.operators.comparing import both, disagreements, run
from tests.operators.settings import COUNT, Setting, settings
from tests.operators.signatures import REQUIRED, Parameters

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

EACH = {"rows": 1, "widened": 4}
"""Settings of each second row as it is, and of each that is widened.

With --whole every row has COUNT settings.
"""


class Widened(NamedTuple):
    """A row with more in its domain, and what then differs."""

    row: str
    differs: str
    operand: str = ""
    drawn: Drawn = "unit"
    argument: Argument | None = None


ROWS = correspondences()

EPS = Argument(dict.fromkeys(NEEDED, Side("eps", 1e-8)), values=(10.0,))
PADDING_IDX = Argument(dict.fromkeys(NEEDED, Side("padding_idx", None)), values=(1,))

WIDENED = (
    Widened("ops.selu", "gradient of input"),
    Widened("ops.L2Normalize", "gradient of input"),
    Widened("ops.kl_div", "gradient of target", "target"),
    Widened("nn.KLDivLoss", "gradient of target", "target"),
    Widened("ops.gaussian_nll_loss", "gradient of var", "var", "positive"),
    Widened("nn.BCEWithLogitsLoss", "gradient of input", "target"),
    Widened("nn.SoftmaxCrossEntropyWithLogits", "gradient of input", "target", "targets"),
    Widened("ops.cosine_similarity", "result 0", argument=EPS),
    Widened("nn.Embedding", "gradient of weight", argument=PADDING_IDX),
)


def _widened(each: Widened) -> Row:
    (row,) = [row for row in ROWS if row.name("mindspore") == each.row]
    operands = []
    for operand in row.operands:
        if operand.name("torch") == each.operand:
            operand = msgspec.structs.replace(operand, drawn=each.drawn)
        operands.append(operand)
    name = each.argument.name("mindspore") if each.argument else ""
    arguments = [argument for argument in row.arguments if argument.name("mindspore") != name]
    if each.argument:
        arguments.append(each.argument)
    return msgspec.structs.replace(
        row, operands=tuple(operands), arguments=tuple(arguments), compared="gradients"
    )


class Runs:
    """All settings by what they are for, and what both frameworks answered."""

    def __init__(self, is_whole: bool) -> None:
        self.settings = {
            "rows": _settings(ROWS if is_whole else ROWS[::2], COUNT if is_whole else EACH["rows"]),
            "widened": _settings(map(_widened, WIDENED), EACH["widened"]),
        }
        everything = list(chain(*self.settings.values()))
        mindspore = Asked([setting.mindspore for setting in everything], *names_in("mindspore"))
        torch = Asked([setting.torch for setting in everything], *names_in("torch"))
        here, there = both(mindspore, torch)
        self.installed: dict[Framework, Answered] = {"mindspore": here, "torch": there}

    def answered(self, kind: str) -> Iterator[tuple[Setting, Answer | Raised, Answer | Raised]]:
        """The settings of a kind with the answers of MindSpore and of PyTorch."""
        start = 0
        for name, of_kind in self.settings.items():
            if name == kind:
                break
            start += len(of_kind)
        here, there = (self.installed[name].answers[start:] for name in NEEDED)
        yield from zip(self.settings[kind], here, there, strict=False)

    def differing(self, kind: str) -> dict[str, list[str]]:
        """What does not agree, by row."""
        found: dict[str, list[str]] = defaultdict(list)
        for setting, here, there in self.answered(kind):
            for text in disagreements(setting, here, there):
                calls = f"{setting.mindspore.arguments} {setting.torch.arguments}"
                found[setting.row.name("mindspore")].append(f"{text}: {calls}")
        return dict(found)


def _settings(rows: Iterable[Row], count: int) -> list[Setting]:
    return [setting for row in rows for setting in settings(row, count)]


def _full_name(framework: Framework, name: str) -> str:
    return f"mindspore.{name}" if framework == "mindspore" else name


def names_in(framework: Framework) -> tuple[list[str], list[str]]:
    """The callables and the operators of a framework that the table names."""
    called: set[str] = set()
    operators: set[str] = set()
    for row in ROWS:
        column = row.columns[framework]
        called |= {_full_name(framework, name) for name in (column.call, *column.alike)}
        operators |= set(column.graph)
    return sorted(called), sorted(operators)


@pytest.fixture(scope="module")
def runs(pytestconfig: pytest.Config) -> Runs:
    return Runs(bool(pytestconfig.getoption("--whole")))


def test_both_sides_of_every_row_give_the_same(runs: Runs) -> None:
    assert runs.differing("rows") == {}


def test_each_fact_is_seen_where_the_row_s_domain_leaves_it_out(runs: Runs) -> None:
    seen: dict[str, set[str]] = {}
    for name, texts in runs.differing("widened").items():
        seen[name] = {text.partition(" differs")[0] for text in texts}
    # Where the values differ, so do gradients.
    assert [each.row for each in WIDENED if each.differs not in seen[each.row]] == []
    only_in_gradients = [each for each in WIDENED if each.differs.startswith("gradient")]
    assert all(seen[each.row] == {each.differs} for each in only_in_gradients)


def test_a_layer_has_the_weights_that_its_row_names(runs: Runs) -> None:
    named: dict[str, set[str]] = defaultdict(set)
    for setting, answer, _ in runs.answered("rows"):
        if isinstance(answer, Answer):
            named[setting.row.name("mindspore")] |= answer.own_names
    asked = {setting.row.name("mindspore") for setting in runs.settings["rows"]}
    for row in correspondences("layer"):
        if row.name("mindspore") not in asked:
            continue
        plain = {re.sub(r"^bn2d\.", "", name) for name in named[row.name("mindspore")]}
        weights = row.columns["mindspore"].weights
        assert plain <= set(weights), row.name("mindspore")
        assert bool(plain) == bool(weights), row.name("mindspore")


UNSEEN = {("torch.nn.PReLU", "init"): "the test sets the weight that it initializes"}
"""Arguments without which nothing changes here, and why."""


@pytest.mark.whole
def test_an_argument_that_is_not_translated_is_noticed(runs: Runs) -> None:
    """Without each argument in turn, PyTorch gives something else in one setting at least."""
    planted = list(_planted(runs))
    asked = [setting.torch for _name, setting, _answer in planted]
    found = run("in_torch", Asked(asked)).answers
    noticed: dict[tuple[str, str], bool] = {}
    for (name, setting, here), there in zip(planted, found, strict=True):
        differs = bool(list(disagreements(setting, here, there)))
        noticed[name] = noticed.get(name, False) or differs
    unnoticed = {name for name, is_noticed in noticed.items() if not is_noticed}
    assert len(noticed) > 150
    assert sorted(unnoticed) == sorted(UNSEEN)


def _planted(runs: Runs) -> Iterator[tuple[tuple[str, str], Setting, Answer | Raised]]:
    for setting, here, _ in runs.answered("rows"):
        for argument in setting.row.arguments:
            name, default = argument.name("torch"), argument.default("torch")
            given = setting.torch.arguments.get(name, default)
            is_tried = argument.name("mindspore") and name and argument.way() not in COMPANIONS
            if not is_tried or given == default:
                continue
            others = {**setting.torch.arguments}
            del others[name]
            call = setting.torch._replace(arguments=others)
            yield (setting.row.name("torch"), name), setting._replace(torch=call), here


# Names and defaults

BY_RUNNING = {("rnn", "nonlinearity")}
"""Arguments that no signature has; that they are there, and their default, is seen by running."""

SCHEMA_DEFAULTS = {"correction": 1}
"""What None stands for in a schema of PyTorch's."""

OWN = {"dtype", "weight_init", "bias_init"}
"""What callables of mint take in addition."""


def test_every_operator_is_there(runs: Runs) -> None:
    for framework in NEEDED:
        there = runs.installed[framework].operators
        assert [name for name, is_there in there.items() if not is_there] == []


@pytest.mark.parametrize("framework", NEEDED)
def test_names_and_defaults_are_those_of_the_signature(framework: Framework, runs: Runs) -> None:
    wrong: list[str] = []
    for row in ROWS:
        full = _full_name(framework, row.name(framework))
        wrong += [
            f"{full}: {text}"
            for text in _wrong(row, framework, runs.installed[framework].signatures[full])
        ]
    assert wrong == []


def test_alike_callables_have_the_names_and_defaults_of_pytorch(runs: Runs) -> None:
    wrong: list[str] = []
    for row in ROWS:
        for name in row.columns["mindspore"].alike:
            overloads = runs.installed["mindspore"].signatures[f"mindspore.{name}"]
            assert overloads, f"{name} has no signature"
            wrong += [f"{name}: {text}" for text in _unlike(row, overloads[0])]
    assert wrong == []


def _wrong(row: Row, framework: Framework, overloads: list[Parameters]) -> list[str]:
    if not overloads:
        # Layers without a setting take anything.
        return [] if row.kind == "layer" and not row.arguments else ["no signature"]
    known: dict[str, Default] = {}
    for argument in row.arguments:
        if argument.name(framework):
            known[argument.name(framework)] = argument.default(framework)
    operands = {each.name(framework): each.is_optional for each in row.operands}
    texts: list[str] = []
    for name, default in known.items():
        there = [overload[name] for overload in overloads if name in overload]
        if not there and (row.family, name) not in BY_RUNNING:
            texts.append(f"has no {name}")
        elif there and not any(_is_same(name, default, value) for value in there):
            texts.append(f"{name} is {there[0]!r} by default, the table has {default!r}")
    is_class = row.name(framework).rpartition(".")[2][:1].isupper()
    if row.kind == "function" and not is_class:  # a primitive is a class too
        texts += _wrong_operands(operands, overloads)
    if len(overloads) == 1:
        said = {*known, *operands, *row.unmatched}
        first = next(iter(overloads[0]), "")
        texts += [f"the table lacks {name}" for name in overloads[0] if name not in {*said, first}]
    return texts


def _wrong_operands(operands: dict[str, bool], overloads: list[Parameters]) -> list[str]:
    """Operands that the signature lacks; the first is given by its place."""
    texts: list[str] = []
    for name, is_optional in list(operands.items())[1:]:
        there = [overload[name] for overload in overloads if name in overload]
        if not there:
            texts.append(f"has no operand {name}")
        elif is_optional and None not in there:
            texts.append(f"{name} is not optional")
    return texts


def _unlike(row: Row, parameters: Parameters) -> list[str]:
    known = {each.name("torch"): each.default("torch") for each in row.arguments}
    operands = {operand.name("torch") for operand in row.operands}
    texts: list[str] = []
    for name, value in parameters.items():
        if name in known and not _is_same(name, known[name], value):
            texts.append(f"{name} is {value!r} by default, PyTorch has {known[name]!r}")
        elif name not in {*known, *operands, *row.unmatched, *OWN}:
            texts.append(f"PyTorch has no {name}")
    return texts


def _is_same(name: str, ours: Default, theirs: object) -> bool:
    if ours is Absent.REQUIRED:
        return theirs == REQUIRED
    assert ours is not UNKNOWN
    if theirs is None and SCHEMA_DEFAULTS.get(name) == ours:
        return True
    # A schema has lists for numbers of each axis, and leaves out what Python passes as None.
    if isinstance(theirs, tuple) and not isinstance(ours, tuple):
        return theirs == (ours,) * len(theirs) and (theirs != () or ours is None)
    return bool(ours == theirs) or (ours is None and theirs == REQUIRED)
