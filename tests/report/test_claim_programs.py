"""The programs of claims: on the page of each row no function twice, and none that nobody calls."""

import ast
import builtins
import functools
import importlib.util
from pathlib import Path

import msgspec
import pytest

from explorer.model.claim import Board, ClaimRow
from explorer.model.measurement import Ask, Measured, Measurement
from explorer.report.claims.programs import (
    AS_PRINTED,
    WHAT_WAS_RUN,
    WITH_GUIDES_CODE,
    ClaimProgram,
    programs,
)
from explorer.text.language import said_in
from explorer.text.programs import read
from explorer.topics import claims
from explorer.topics.boards import _listings
from explorer.topics.in_worker import listing, source
from explorer.topics.topic import Claim
from tests.support.narrowing import present
from tests.support.samples import some
from tests.support.topics import row_of

CLAIMS = claims()

NUMBERS = some(CLAIMS, *range(1, 95, 6), 52)
"""The claims; in each run of the tests one in six is looked at."""


@functools.cache
def text_of(module: str) -> str:
    found = present(importlib.util.find_spec(module))
    return Path(present(found.origin)).read_text(encoding="utf-8")


def recorded(measurement: Measurement) -> Measured:
    """A measurement that failed, with the code that a worker records; no framework is needed."""
    module, _, name = measurement.target.partition(":")
    text = text_of(module)
    ask = Ask(measurement.scenario, measurement.device, measurement.options)
    return Measured(
        outcome="crashed",
        code=source(text, name, ask, measurement.kind),
        printed=listing(text, measurement.printed) if measurement.printed else "",
        meant=listing(text, measurement.meant) if measurement.meant else "",
        error=None,
    )


def board_of(claim: Claim) -> tuple[Board, ClaimRow]:
    measured = {each.name: recorded(each) for each in claim.measurements}
    row = row_of(
        claim,
        verdict=None,
        advice="",
        measured=tuple(measured),
        printed=_listings({name: each.printed for name, each in measured.items()}),
        meant=_listings({name: each.meant for name, each in measured.items()}),
    )
    return Board(date="", versions={}, rows=(row,), measured=measured), row


@functools.cache
def shown(number: int) -> list[ClaimProgram]:
    return programs(*board_of(CLAIMS[number]))


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_no_function_is_twice_on_the_page_of_a_claim(number: int) -> None:
    texts = [piece.text for program in shown(number) for piece in read(program.code).pieces]
    functions = [text for text in texts if "def " in text or text.startswith("class ")]
    assert len(functions) == len(set(functions))


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_every_name_in_the_programs_of_a_claim_is_defined_above_or_beside_it(number: int) -> None:
    guide: set[str] = set()
    for program in shown(number):
        code = read(program.code)
        own = {each.name for each in code.imports}
        own |= {name for piece in code.pieces for name in piece.names}
        if program.title in (WHAT_WAS_RUN, WITH_GUIDES_CODE):
            known = own | (guide if program.title == WITH_GUIDES_CODE else set())
            used = {name for piece in code.pieces for name in piece.uses}
            used |= {name for call in code.calls for name in names_in(call)}
            assert used <= known | set(vars(builtins)), program.heading
        else:
            guide |= own


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_every_function_in_the_programs_of_a_claim_is_reached_from_a_call(number: int) -> None:
    codes = [read(program.code) for program in shown(number)]
    # Two listings, of MindSpore and of PyTorch, may each have a function of one name.
    uses: dict[str, list[str]] = {}
    for piece in (piece for code in codes for piece in code.pieces):
        for name in piece.names:
            uses.setdefault(name, []).extend(piece.uses)
    waiting = [name for code in codes for call in code.calls for name in names_in(call)]
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(uses.get(name, ()))
    assert set(uses) <= reached


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_all_who_were_measured_for_a_claim_are_called_in_its_programs(number: int) -> None:
    calls = [call for program in shown(number) for call in read(program.code).calls]
    for measurement in CLAIMS[number].measurements:
        name = measurement.target.partition(":")[2]
        # A long call has its arguments on lines of their own.
        starts = (f"print({name}(Ask(", f"print(\n    {name}(\n        Ask(")
        assert any(start in call for start in starts for call in calls), measurement.name


@pytest.mark.slow
def test_programs_name_those_that_ran_them_and_do_not_show_what_a_row_does_not_reach() -> None:
    headings = [program.heading for program in shown(52)]
    assert headings[0] == f"{AS_PRINTED} (MindSpore graph and tape)"
    assert f"{WHAT_WAS_RUN}: zero_grad, backward, step (PyTorch)" in headings
    several = [heading for heading in headings if "code above: (1) Model.train over" in heading]
    assert [" (2) nn.TrainOneStepCell around " in heading for heading in several] == [True]
    with said_in("zh"):
        headings = [program.heading for program in programs(*board_of(CLAIMS[52]))]
    assert "实际运行的程序：loop（PyTorch）" in headings
    text = "\n".join(program.code for program in shown(52))
    assert text.count("def guide_step(") == 1
    assert "def functional(" not in text
    assert "def gradient(" not in "\n".join(program.code for program in shown(31))


def shown_of(*codes: str) -> list[ClaimProgram]:
    """The programs of a claim whose three engines each ran code of their own."""
    claim = CLAIMS[2]
    measured = {}
    for measurement, code in zip(claim.measurements, codes, strict=True):
        measured[measurement.name] = Measured(
            outcome="ok", code="def f(): ...", figures={"code": code}
        )
    board, row = board_of(claim)
    return programs(msgspec.structs.replace(board, measured=measured), row)


def test_code_of_an_engine_s_own_is_shown_in_place_of_the_program_that_asked_it() -> None:
    (script,) = shown_of(*(f"import x\n\nprint({place})\n" for place in range(3)))
    assert script.code == "import x\n\nprint(0)\nprint(1)\nprint(2)\n"
    assert script.who == "MindSpore graph and tape, PyTorch tape"


def test_scripts_that_differ_in_mindspore_s_mode_alone_are_one_loop() -> None:
    script = "import mindspore as ms\n\nms.set_context(mode={})\nx = ms.Tensor(1.0)\nprint(x)\n"
    other = "import torch\n\nprint(1)\n"
    modes = ("ms.GRAPH_MODE", "ms.PYNATIVE_MODE")
    joined, alone = shown_of(*map(script.format, modes), other)
    assert joined.who == "MindSpore graph and tape"
    assert joined.code == (
        "import mindspore as ms\n\n"
        "for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):\n"
        "    ms.set_context(mode=mode)\n"
        "    x = ms.Tensor(1.0)\n"
        "    print(x)\n"
    )
    assert alone.code == other


def names_in(call: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(call)) if isinstance(node, ast.Name)}
