"""Loads a scenario file, and rejects one that does not define a pair of nets."""

import ast
import importlib.util
import linecache
import marshal
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from explorer.model.arrays import AnyArray
from explorer.model.engines import FRAMEWORKS, Framework
from explorer.model.errors import ScenarioError
from explorer.scenario.declaration import SENT, Declaration, Factory, decoded
from explorer.scenario.find import SHIPPED, forget_changed, module_name, remedy_for_import
from explorer.scenario.optional_names import (
    Names,
    check_arrays,
    check_inputs,
    declared,
    with_arrays,
)
from explorer.text.language import _
from explorer.text.parsing import parsed
from explorer.text.reasons import reason

NETS = tuple(f"{framework}_net" for framework in FRAMEWORKS)
"""The functions that make the nets, of which a scenario needs at least one."""

FUNCTIONS = ("inputs", "parameters", *NETS)
"""The functions that a scenario may define."""

INSTALLED = ("site-packages", "dist-packages")
"""What the folders of installed packages are called."""


def load(path: Path | str) -> Declaration:
    """The declaration in a scenario's file, which is run, or of one's own nets, which are not.

    The file's module is registered in ``sys.modules``: MindSpore's compiler
    (2.10) looks for it there. Raises ScenarioError: a syntax error or an
    exception at import (file and line), a framework imported at module level, a
    required name that is missing, an input that no engine takes.
    """
    path = Path(path).resolve()
    if path.suffix == SENT:
        return decoded(path.read_bytes(), path)
    module = _import(path)
    title, __, notes = (module.__doc__ or "").strip().partition("\n")
    nets: dict[Framework, Factory] = {}
    for framework in FRAMEWORKS:
        if hasattr(module, f"{framework}_net"):
            nets[framework] = Factory(imported_name(path), f"{framework}_net")
    said = Names(str(path), vars(module))
    declaration = declared(
        said,
        Declaration(
            name=path.stem,
            file=str(path),
            title=title.rstrip(".") or path.stem,
            notes=notes.strip(),
            nets=nets,
        ),
    )
    _check_functions(path, module)
    inputs = _call(path, module, "inputs")
    check_inputs(said, inputs)
    start = None
    if getattr(module, "parameters", None) is not None:
        start = _call(path, module, "parameters")
        check_arrays(said, "parameters", start)
    return with_arrays(said, declaration, inputs, start)


def module_of(declaration: Declaration) -> ModuleType:
    """The module of a scenario's file that load() has run last."""
    return sys.modules[imported_name(declaration.path)]


def make_net(declaration: Declaration, framework: Framework) -> Any:
    """A new net of one framework; for a worker, in which load() has run the scenario's file."""
    factory = declaration.nets[framework]
    _look_in(factory, declaration.nets.values())
    first, *rest = factory.name.split(".")
    # As `from module import first` does, which may be a module inside a package.
    module = __import__(factory.module, fromlist=[first])
    if not hasattr(module, first):
        file = getattr(module, "__file__", None) or "unknown location"
        raise ImportError(f"cannot import name {first!r} from {factory.module!r} ({file})")
    made = getattr(module, first)
    for name in rest:
        made = getattr(made, name)
    return made(**factory.arguments)


_LOOKED_IN: list[str] = []
"""The folders that were added to Python's path for the net before."""


def _look_in(factory: Factory, factories: Iterable[Factory]) -> None:
    """Let Python find a factory's package in its folder, also where it has imported one of its name."""
    while _LOOKED_IN:
        with suppress(ValueError):  # a net may have removed it
            sys.path.remove(_LOOKED_IN.pop())
    for folder in dict.fromkeys((factory.folder, *(each.folder for each in factories))):
        # What is installed for the other net may be for another Python.
        is_needed = folder == factory.folder or Path(folder).name not in INSTALLED
        if folder and is_needed and folder not in sys.path:
            sys.path.append(folder)
            _LOOKED_IN.append(folder)
    if not factory.folder or _is_found_in(factory):
        return
    for name in list(sys.modules):
        if _is_of(name, factory.package):
            del sys.modules[name]
    importlib.invalidate_caches()
    first = next((at for at, place in enumerate(sys.path) if _holds(place, factory.package)), 0)
    if sys.path[first] != factory.folder:
        sys.path.insert(first, factory.folder)
        _LOOKED_IN.append(factory.folder)


def _is_found_in(factory: Factory) -> bool:
    """Whether what Python has of a factory's package, or else would import, is in its folder."""
    loaded = [module for name, module in sys.modules.items() if _is_of(name, factory.package)]
    files = [file for module in loaded if (file := getattr(module, "__file__", None))]
    if files:
        return all(_is_in(file, factory.folder) for file in files)
    spec = PathFinder.find_spec(factory.package)
    places = [spec.origin, *(spec.submodule_search_locations or ())] if spec else []
    first = next(filter(None, places), None)
    return first is None or _is_in(first, factory.folder)


def _is_of(name: str, package: str) -> bool:
    """Whether a module is one of a package."""
    return name.partition(".")[0] == package


def _is_in(file: str, folder: str) -> bool:
    path = Path(file)
    return path.is_relative_to(folder) or path.resolve().is_relative_to(Path(folder).resolve())


def _holds(place: str, package: str) -> bool:
    """Whether a folder has a package, or a module, of a name."""
    found = Path(place) / package
    return found.is_dir() or found.with_suffix(".py").is_file()


def imported_name(path: Path) -> str:
    """The name under which a scenario's file is imported."""
    # A scenario of the user's own may have the name of a shipped one, or of an installed package.
    return module_name(path) or f"explorer_scenario_{path.stem}"


def _import(path: Path) -> ModuleType:
    text = _read(path)
    code = _compiled(path, text)
    name = imported_name(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    module = importlib.util.module_from_spec(spec)
    if path.parent not in SHIPPED:
        forget_changed(path)
    # Before its text runs: what it defines may look its own module up, as dataclasses do.
    sys.modules[name] = module
    _keep_lines(path, text)
    try:
        # Not by the spec's loader: Python would take the code that it has kept of an earlier text
        # where a file has changed within the same second, and has the same length.
        exec(marshal.loads(code), vars(module))
    except Exception as error:
        del sys.modules[name]  # half a module must not be found by a later import
        text = _("{place}: the scenario file raises when it is imported: {error}{remedy}")
        raise _refusal(path, error, text) from error
    return module


def _keep_lines(path: Path, text: str) -> None:
    """Let Python show these lines as the file's, even if the file changes later.

    MindSpore compiles the text that Python shows, which otherwise may not be
    the one that runs.
    """
    lines = [line + "\n" for line in text.removesuffix("\n").split("\n")]
    # An entry without a time is never read anew.
    linecache.cache[str(path)] = len(text), None, lines, str(path)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(
            _("{file}: the scenario file cannot be read: {reason}"), file=path, reason=reason(error)
        ) from error


@lru_cache(maxsize=256)
def _compiled(path: Path, text: str) -> bytes:
    """The code of a scenario's text as marshal writes it: a worker loads one for each request.

    Each load has code of its own, as Dynamo keeps with it what it has compiled
    (torch 2.13).
    """
    # Searched for in the text: importing the file would import the framework before the check.
    try:
        _refuse_frameworks(path, parsed(text, str(path)))
        return marshal.dumps(compile(text, str(path), "exec", dont_inherit=True))
    except SyntaxError as error:
        text = _("{file}:{line}: syntax error in the scenario file: {error}")
        raise ScenarioError(text, file=path, line=error.lineno, error=error.msg) from error


def _refuse_frameworks(path: Path, tree: ast.Module) -> None:
    """The file is read in processes that must stay free of all frameworks."""
    for line, module in _module_level_imports(tree):
        framework = module.split(".")[0]
        if framework in FRAMEWORKS:
            text = _(
                "{file}:{line}: the scenario file imports {module} at module level;"
                " move the import into {framework}_net(),"
                " so that the file can be read without any framework"
            )
            raise ScenarioError(text, file=path, line=line, module=module, framework=framework)


def _module_level_imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and the module of each import at module level."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""


def _refusal(path: Path, error: Exception, text: str, function: str = "") -> ScenarioError:
    """The error for an exception of the file's own text."""
    raised = f"{type(error).__name__}: {error}"
    place, remedy = _place_of(error, path), remedy_for_import(path, str(error))
    return ScenarioError(text, place=place, function=function, error=raised, remedy=remedy)


def _place_of(error: BaseException, path: Path) -> str:
    """ "file:line" of the innermost frame in the scenario that an exception passed through."""
    # Frames come outermost first: the last one in the file is where the scenario itself failed.
    line = None
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{path}:{line}" if line else str(path)


def _check_functions(path: Path, module: ModuleType) -> None:
    # A name that is not a function counts as missing.
    defined = [name for name in FUNCTIONS if callable(getattr(module, name, None))]
    if "inputs" in defined and not set(NETS).isdisjoint(defined):
        return
    nets = [f"{name}()" for name in NETS]
    missing = " or ".join(nets) if "inputs" in defined else "inputs()"
    present = ", ".join(f"{name}()" for name in defined) or _("none of these functions")
    text = _(
        "{file}: the scenario file does not define {missing}; it defines {present}."
        " A scenario needs inputs() and at least one of {nets}"
    )
    raise ScenarioError(text, file=path, missing=missing, present=present, nets=", ".join(nets))


def _call(path: Path, module: ModuleType, function: str) -> dict[str, AnyArray]:
    """The return value of one of the scenario's functions, which must be a dict."""
    try:
        arrays = getattr(module, function)()
    except Exception as error:
        text = _("{place}: {function}() raised {error}{remedy}")
        raise _refusal(path, error, text, function) from error
    if not isinstance(arrays, dict):
        text = _("{file}: {function}() must return a dict of numpy arrays by name, got a {type}")
        raise ScenarioError(text, file=path, function=function, type=type(arrays).__name__)
    return arrays
