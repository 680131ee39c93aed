"""What is kept of parsed functions is what Python and MindSpore find each time."""

import ast
import functools
import importlib.util
import inspect
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from explorer.engines.mindspore import parsed_functions
from explorer.workers.workers import Workers
from tests.support.worker_targets import Word


def wrapping(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*arguments: Any) -> Any:
        return function(*arguments)

    return wrapper


class Net:
    def construct(self, x: float) -> float:
        return x * 2

    @wrapping
    def wrapped(self, x: float) -> float:
        return x


def test_the_lines_are_those_that_python_finds() -> None:
    for function in (wrapping, Net.construct, Net().construct, Net.wrapped, Net, Path.exists):
        assert parsed_functions.lines(function) == inspect.getsourcelines(function)


def test_what_has_no_source_is_refused_as_python_refuses_it() -> None:
    for function in (len, 3):
        with pytest.raises(TypeError):
            parsed_functions.lines(function)
    namespace: dict[str, Any] = {}
    exec("def made(x):\n    return x\n", namespace)
    with pytest.raises(OSError, match="could not get source code"):
        parsed_functions.lines(namespace["made"])


def test_a_caller_may_change_what_it_is_given() -> None:
    parsed_functions.lines(wrapping)[0].clear()
    assert parsed_functions.lines(wrapping) == inspect.getsourcelines(wrapping)


def imported(path: Path, source: str) -> ModuleType:
    path.write_text(textwrap.dedent(source))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_equal_functions_of_two_files_and_of_a_file_that_has_changed_are_told_apart(
    tmp_path: Path,
) -> None:
    source = "def net(x):\n    return x  # {}\n"
    first = imported(tmp_path / "first.py", source.format("one"))
    second = imported(tmp_path / "second.py", source.format("two"))
    assert "# one" in parsed_functions.lines(first.net)[0][1]
    assert "# two" in parsed_functions.lines(second.net)[0][1]
    changed = imported(tmp_path / "first.py", "def net(x):\n    return x + 1  # three\n")
    assert "# three" in parsed_functions.lines(changed.net)[0][1]


def test_a_function_is_looked_up_once_however_often_it_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[Any] = []
    find = parsed_functions._find

    def counted(code: Any) -> Any:
        found.append(code)
        return find(code)

    monkeypatch.setattr(parsed_functions, "_find", counted)

    def net_of(weights: list[float]) -> Any:
        def net(x: float) -> float:
            return x * weights[0]

        return net

    for weight in range(5):
        parsed_functions.lines(net_of([weight]))
    assert len(found) == 1


class Parser:
    """A parser's own part in the place of a node."""

    def __init__(self, filename: str, line_offset: int = 1) -> None:
        self.filename = filename
        self.line_offset = line_offset


def test_a_place_is_looked_up_once_for_each_node_and_each_place_of_its_text() -> None:
    asked: list[Any] = []

    def locate(parser: Any, node: Any) -> list[Any]:
        asked.append(node)
        return [parser.filename, parser.line_offset, node, len(asked)]

    place = parsed_functions.places_kept(locate)
    nodes = [ast.parse(text) for text in ("a", "b", "c")]
    for node in (nodes[0], nodes, nodes[1:], (nodes[0], nodes[1])):
        first = place(Parser("net.py"), node)
        assert place(Parser("net.py"), node) is first
        assert first[2] is node
    assert len(asked) == 4
    # The same text at another place, and in another file.
    assert place(Parser("net.py", 9), nodes[0])[1] == 9
    assert place(Parser("other.py"), nodes[0])[0] == "other.py"
    for _ in range(2):
        assert place(Parser("net.py"), [])[2] == []
    assert len(asked) == 8


def test_a_node_that_comes_under_the_id_of_one_that_is_gone_has_a_place_of_its_own() -> None:
    place = parsed_functions.places_kept(lambda _, node: ast.dump(node))
    for number in range(200):
        node = ast.parse(f"x + {number}")
        assert place(Parser("net.py"), node) == ast.dump(node)


def test_no_more_places_are_kept_than_some(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(parsed_functions, "MOST_PLACES", 3)

    def locate(_: Any, node: Any) -> Any:
        asked.append(node)
        return node

    place = parsed_functions.places_kept(locate)
    nodes = [ast.parse(text) for text in "abcd"]
    for node in (*nodes, nodes[3], nodes[0]):
        assert place(Parser("net.py"), node) is node
    assert len(asked) == 5


def test_a_module_is_judged_once_by_its_name_and_its_file() -> None:
    asked: list[Any] = []

    def judge(_: Any, module: ModuleType) -> bool:
        asked.append(module)
        return module.__name__ == "numpy"

    is_third_party = parsed_functions.judgements_kept(judge)
    user, library, elsewhere = ModuleType("net"), ModuleType("numpy"), ModuleType("net")
    elsewhere.__file__ = "elsewhere/net.py"
    for _ in range(2):
        judged = [is_third_party(None, module) for module in (user, library, elsewhere)]
        assert judged == [False, True, False]
    assert asked == [user, library, elsewhere]


@pytest.mark.mindspore
def test_what_is_kept_is_what_mindspores_own_parser_says(workers: Workers) -> None:
    reply = workers.call("mindspore", "tests.support.worker_targets:parsed", Word(""), Word)
    assert isinstance(reply, Word)
    count, wrong = reply.text.split()
    assert int(count) > 100
    assert wrong == "0"
