"""Programs as text: what a function reaches, in an order in which Python can run it; how they are named."""

import ast
import sys
from collections import OrderedDict
from typing import Any, NamedTuple

import pytest

from explorer.text.program_name import program
from explorer.text.programs import WIDTH, double_quoted, literal, merged, reached, read

MODULE = '''"""Weather."""

from __future__ import annotations

import os
from collections.abc import Mapping as Map
from typing import Any

import msgspec

from explorer.model.claim import Board, Ruling

# Millimetres.
LIMIT = 3
"""Above it there is rain."""

TABLE = {"rain": lambda: rain, "dew": os.name}


class Rain(Base):
    """A shower."""

    limit = LIMIT


class Base:  # type: ignore[misc]
    """Any weather."""


def rain(loss: Map[str, Any]) -> Rain:
    """Not dew: what is only spoken of is not reached."""
    drops = loss["dew"]

    def inner() -> Any:
        return drops, drizzle()

    return inner()


def drizzle():
    return TABLE


def dew():
    return Board


def drops():
    return Ruling


def loss():
    return msgspec
'''


def defined(text: str) -> list[str]:
    return [node.name for node in ast.parse(text).body if hasattr(node, "name")]


def test_what_is_named_in_text_or_is_a_local_s_name_is_not_reached() -> None:
    program = reached(read(MODULE), ["rain"])
    assert set(defined(program.text)) == {"Rain", "Base", "rain", "drizzle"}
    assert [each.name for each in program.imports] == ["os", "Map", "Any"]
    with pytest.raises(SyntaxError):
        read("def f(:")


def test_a_program_is_in_an_order_in_which_python_can_run_it() -> None:
    # A base class comes before what is derived from it.
    names = defined(reached(read(MODULE), ["rain"]).text)
    assert names.index("Base") < names.index("Rain")
    # A constant comes first, with what is said of it.
    text = reached(read(MODULE), ["Rain"]).text
    assert text.startswith('# Millimetres.\nLIMIT = 3\n"""Above it there is rain."""\n')
    assert "type: ignore" not in text
    # Imports are written as ruff sorts them.
    program = reached(read(MODULE), ["rain", "dew", "drops", "loss"])
    assert program.text.startswith(
        "import os\nfrom collections.abc import Mapping as Map\nfrom typing import Any\n\n"
        "import msgspec\n\nfrom explorer.model.claim import Board, Ruling\n\n"
    )


def test_the_names_of_a_module_s_comprehension_are_its_own() -> None:
    # From Python 3.12 on the compiler's table has them among those of the module.
    module = read("dew = 1\nROWS = [1]\nTABLE = {dew: str(dew) for dew in ROWS}\n")
    table = module.pieces[-1]
    assert table.names == ("TABLE",)
    assert table.uses == ("str", "ROWS")


def test_a_constant_that_is_made_by_a_function_comes_after_it() -> None:
    module = read("RAIN = fall()\n\n\ndef fall():\n    return 1\n")
    namespace: dict[str, object] = {}
    text = reached(module, ["RAIN"]).text
    assert text == "def fall():\n    return 1\n\n\nRAIN = fall()\n"
    exec(text, namespace)
    assert namespace["RAIN"] == 1


def test_programs_of_one_module_have_each_function_and_each_import_once() -> None:
    module = read(MODULE)
    both = merged((reached(module, ["rain"]), reached(module, ["drizzle"])))
    assert sorted(defined(both.text)) == ["Base", "Rain", "drizzle", "rain"]
    assert both.text.count("import os") == 1
    # Calls come last, and each once.
    once = read("def f():\n    return 1\n\n\nprint(f())\n")
    assert merged((once, once)).text == "def f():\n    return 1\n\n\nprint(f())\n"


class Bounds(NamedTuple):
    low: int
    high: int


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("it's", '"it\'s"'),
        ('say "x"', "'say \"x\"'"),
        (("a",), '("a",)'),
        ({"style": "graph", "norms": [1.0, None]}, '{"style": "graph", "norms": [1.0, None]}'),
        # What is derived from a plain type is written as that.
        ([OrderedDict(a=1), Bounds(0, 6)], '[{"a": 1}, (0, 6)]'),
    ],
)
def test_plain_data_is_written_in_double_quotes(value: Any, written: str) -> None:
    assert literal(value) == written
    assert ast.literal_eval(written) == value


def test_what_is_too_long_for_a_line_has_a_line_for_each_item() -> None:
    long = {"first": ["x" * 40, ("y" * 40,), "z" * 40], "second": 2}
    text = literal(long, 4)
    assert ast.literal_eval(text) == long
    assert text.splitlines()[:2] == ["{", '        "first": [']
    assert text.splitlines()[-2:] == ['        "second": 2,', "    }"]
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "\n" not in literal("x" * 200)


def test_strings_of_code_are_put_in_double_quotes_where_that_needs_nothing_else() -> None:
    code = "a = x['b'] + 'say \"c\"' + f\"{y['d']}\" + 'e'\n"
    assert double_quoted(code) == 'a = x["b"] + \'say "c"\' + f"{y[\'d\']}" + "e"\n'


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("/usr/bin/explorer", "explorer"),
        ("explorer", "explorer"),
        ("/site-packages/explorer/__main__.py", "python -m explorer"),
        ("tests/run.py", "python -m explorer"),
        ("", "python -m explorer"),
    ],
)
def test_commands_begin_as_the_one_that_was_typed(
    typed: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [typed, "scenario"])
    assert program() == shown
