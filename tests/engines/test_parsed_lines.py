"""The lines of functions, looked up once each, are those that Python finds."""

import functools
import importlib.util
import inspect
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from explorer.engines.mindspore import parsed_lines


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
        assert parsed_lines.lines(function) == inspect.getsourcelines(function)


def test_what_has_no_source_is_refused_as_python_refuses_it() -> None:
    for function in (len, 3):
        with pytest.raises(TypeError):
            parsed_lines.lines(function)
    namespace: dict[str, Any] = {}
    exec("def made(x):\n    return x\n", namespace)
    with pytest.raises(OSError, match="could not get source code"):
        parsed_lines.lines(namespace["made"])


def test_a_caller_may_change_what_it_is_given() -> None:
    parsed_lines.lines(wrapping)[0].clear()
    assert parsed_lines.lines(wrapping) == inspect.getsourcelines(wrapping)


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
    assert "# one" in parsed_lines.lines(first.net)[0][1]
    assert "# two" in parsed_lines.lines(second.net)[0][1]
    changed = imported(tmp_path / "first.py", "def net(x):\n    return x + 1  # three\n")
    assert "# three" in parsed_lines.lines(changed.net)[0][1]


def test_a_function_is_looked_up_once_however_often_it_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[Any] = []
    find = parsed_lines._find

    def counted(code: Any) -> Any:
        found.append(code)
        return find(code)

    monkeypatch.setattr(parsed_lines, "_find", counted)

    def net_of(weights: list[float]) -> Any:
        def net(x: float) -> float:
            return x * weights[0]

        return net

    for weight in range(5):
        parsed_lines.lines(net_of([weight]))
    assert len(found) == 1
