"""Nets of one's own package, named by the functions that create them, as a declaration."""

import ast
import hashlib
import importlib.util
import keyword
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from explorer.environments.interpreters import interpreter, is_own
from explorer.environments.known import environment_for
from explorer.model.arrays import AnyArray
from explorer.model.engines import LEADERS, Framework, WorkerKind, placed
from explorer.model.errors import UsageError
from explorer.scenario import net_sources
from explorer.scenario.declaration import (
    SENT,
    Checkpoint,
    Declaration,
    Factory,
    decoded,
    encoded,
)
from explorer.scenario.load import NETS
from explorer.scenario.optional_names import Names, check_inputs, declared, with_arrays
from explorer.text.choices import choose
from explorer.text.language import _
from explorer.text.parsing import parsed

DECLARATIONS = {
    "train": "TRAIN",
    "outputs": "OUTPUTS",
    "constants": "CONSTANTS",
    "cases": "CASES",
    "parameter_names": "PARAMETER_NAMES",
    "buffers": "BUFFERS",
    "layouts": "LAYOUTS",
    "same_dropout": "SAME_DROPOUT",
    "tolerances": "TOLERANCES",
    "expected_differences": "EXPECTED_DIFFERENCES",
    "expected_findings": "EXPECTED_FINDINGS",
}
"""What may be said of nets, and the name under which a scenario file says it."""

CHECKPOINTS: dict[str, Framework] = {".ckpt": "mindspore", ".pt": "torch", ".pth": "torch"}
"""Files that a framework reads into its own net, which the other then starts like.

PyTorch reads them with weights_only, and MindSpore's are no pickles: neither
runs what a file says.
"""

FOLDER = "explorer-nets-"
"""The beginning of the name of the folder from which workers read a declaration."""

GIVEN = "given"
"""The name under which a file of `scenario --new --from-factories` imports what creates a net."""

FACTORY = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def own_nets(
    *,
    factories: Mapping[Framework, str],
    arguments: Mapping[Framework, Mapping[str, Any] | None],
    homes: Mapping[Framework, str],
    inputs: Mapping[str, Any] | str | Path,
    parameters: Mapping[str, Any] | str | Path | None = None,
    name: str = "",
    declarations: Mapping[str, Any],
) -> Declaration:
    """The declaration of nets: what creates each, "" where there is none, with which ``arguments``.

    ``homes`` are the environments in which they run, "" where their framework is found.

    Raises UsageError for what cannot be nets, inputs or parameters, and
    ScenarioError for a declaration with a wrong value.
    """
    nets: dict[Framework, Factory] = {}
    named_homes = {framework: home for framework, home in homes.items() if home}
    for framework, factory in factories.items():
        literal_arguments = arguments.get(framework)
        if factory:
            literals = literals_of(f"{framework}_arguments", literal_arguments or {})
            made = factory_of(factory, placed(framework, named_homes.get(framework, "")))
            literals = {**made.literals, **literals}
            nets[framework] = msgspec.structs.replace(made, literals=literals)
        elif literal_arguments:
            text = _("{option} is given without {framework}, the function that takes them; add it")
            raise UsageError(text, option=f"{framework}_arguments", framework=framework)
    if not nets:
        text = _("no net is given; give the function that creates it: {form}")
        raise UsageError(text, form='torch="package.module:function"')
    start, checkpoint = _start(parameters)
    arrays = _arrays("inputs", inputs)
    values: dict[str, Any] = {}
    for key, value in declarations.items():
        choose("declaration", key, DECLARATIONS)
        values[DECLARATIONS[key]] = _literal(key, value)
    if checkpoint and checkpoint.framework == "mindspore":
        values["STARTS_FROM"] = "mindspore"
    leading = next(nets[framework] for framework in LEADERS if framework in nets)
    name = name or _name_of(str(leading))
    names = Names(name, values, is_of_api=True)
    check_inputs(names, arrays)
    plain = Declaration(
        name=name,
        file=name,
        title=" beside ".join(map(str, nets.values())),
        nets=nets,
        checkpoint=checkpoint,
        homes=named_homes,
    )
    return with_arrays(names, declared(names, plain), arrays, start)


def factory_of(name: str, kind: WorkerKind = "") -> Factory:
    """The function that "package.module:function" names, of a package that can be imported.

    It is looked for where a ``kind`` of worker runs, then here.
    Keyword arguments may follow: "package.module:function(classes=10)".

    Raises UsageError for any other text. The package is only looked for:
    nothing of it is run.
    """
    call = _call(name) if isinstance(name, str) and name.endswith(")") else None
    if call is not None:
        name, literals = call
        return msgspec.structs.replace(factory_of(name, kind), literals=literals)
    if not isinstance(name, str) or not FACTORY.fullmatch(name):
        text = _(
            "{given!r} does not name a function that creates a net; write"
            " 'package.module:function', by which worker processes import it"
        )
        raise UsageError(text, given=name)
    module, __, function = name.partition(":")
    return Factory(module, function, str(_folder_of(name, kind)))


def literals_of(option: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """The expressions of keyword arguments; raises UsageError for one that is not a literal."""
    is_mapping = isinstance(arguments, Mapping)
    if not is_mapping or not all(map(_is_keyword, arguments)):
        text = _("{option} must be a dict of keyword arguments such as {form}, got {given!r}")
        raise UsageError(text, option=option, form="{'num_classes': 10}", given=arguments)
    literals = {}
    for name, value in arguments.items():
        literals[name] = repr(_literal(f"{option}[{name!r}]", value))
    return literals


def _is_keyword(name: object) -> bool:
    return isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)


def _call(text: str) -> tuple[str, dict[str, str]] | None:
    """The function and the literals of "package.module:function(classes=10)"; None for other text."""
    name, __, rest = text.partition("(")
    try:
        call = ast.parse(f"f({rest}", mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call):
        return None
    arguments = {}
    for argument in call.keywords:
        if argument.arg is None:
            return None
        arguments[argument.arg] = ast.unparse(argument.value)
    if call.args:
        refusal = _("{given!r}: give arguments by name, such as {form}")
        raise UsageError(refusal, given=f"({rest}", form="(num_classes=10)")
    try:
        for value in arguments.values():
            ast.literal_eval(value)
    except ValueError as error:
        refusal = _(
            "{given!r}: arguments must be numbers, strings, and tuples, lists or dicts of them"
        )
        raise UsageError(refusal, given=f"({rest}") from error
    return name, arguments


def _name_of(factory: str) -> str:
    module, __, function = factory.partition(":")
    name = f"{module}_{function}".replace(".", "_")
    return name.strip("_")


def _literal(key: str, value: Any) -> Any:
    """The value itself, if it can be written as a literal."""
    try:
        if ast.literal_eval(repr(value)) == value:
            return value
    except (ValueError, SyntaxError):
        pass
    text = _(
        "{key} must consist of numbers, strings, and tuples, lists or dicts of them, got {given!r}"
    )
    raise UsageError(text, key=key, given=value)


def _start(
    parameters: Mapping[str, Any] | str | Path | None,
) -> tuple[dict[str, AnyArray] | None, Checkpoint | None]:
    """The starting values, or the file from which a framework reads them."""
    if parameters is None:
        return None, None
    if isinstance(parameters, (str, Path)) and Path(parameters).suffix in CHECKPOINTS:
        file = _file("parameters", Path(parameters))
        framework = CHECKPOINTS[file.suffix]
        return None, Checkpoint(framework, str(file), _digest(file.read_bytes()))
    return _arrays("parameters", parameters), None


def _arrays(what: str, given: Mapping[str, Any] | str | Path) -> dict[str, AnyArray]:
    """The arrays of a mapping, or of a file with no pickles in it."""
    if not isinstance(given, (str, Path)):
        if not isinstance(given, Mapping):
            text = _(
                "{what} must be arrays by name, such as {{'x': array}}, or the path of a file"
                " with them, got a {type}"
            )
            raise UsageError(text, what=what, type=type(given).__name__)
        return {str(name): _array(f"{what}[{name!r}]", value) for name, value in given.items()}
    path = _file(what, Path(given))
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                return dict(arrays)
        if path.suffix == ".safetensors":
            from safetensors.numpy import load_file

            return dict(load_file(path))
    except Exception as error:  # zip, npy and safetensors each have errors of their own
        raise UsageError(
            _("{what}: {file!r} cannot be read: {reason}"), what=what, file=str(path), reason=error
        ) from error
    allowed = [".npz", ".safetensors"]
    if what == "parameters":
        allowed += CHECKPOINTS
    text = _("{what}: {file!r} has an unknown file format; allowed: {allowed}")
    raise UsageError(text, what=what, file=str(path), allowed=", ".join(allowed))


def _array(what: str, value: Any) -> AnyArray:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:  # a ragged list; a tensor elsewhere
        raise UsageError(
            _("{what} cannot be converted to an array: {reason}"), what=what, reason=error
        ) from error
    if array.dtype.kind not in "biuf":
        raise UsageError(
            _("{what} must be an array of numbers, got dtype {dtype}"), what=what, dtype=array.dtype
        )
    return array


def _file(what: str, path: Path) -> Path:
    if not path.is_file():
        raise UsageError(_("{what}: the file {file!r} does not exist"), what=what, file=str(path))
    return path.resolve()


def _folder_of(factory: str, kind: WorkerKind = "") -> Path:
    """The folder from which a factory's package is imported; raises UsageError where it is not found."""
    package = factory.partition(":")[0].partition(".")[0]
    # The command `explorer` does not look where it is called, as `python -m explorer` does.
    spec = _found_in(kind, package) or PathFinder.find_spec(package, [str(Path.cwd())])
    places = [*(spec.submodule_search_locations or [])] if spec else []
    if spec and spec.origin and spec.has_location:
        places.insert(0, spec.origin)
    if not places:
        text = _(
            "{factory!r}: Python finds no module {package!r} on its path ({places});"
            " install the package, or run from the folder that contains it"
        )
        shown = [*map(repr, sys.path[:4]), *["…"] * (len(sys.path) > 4)]
        raise UsageError(text, factory=factory, package=package, places=", ".join(shown))
    place = Path(places[0])
    is_package = bool(spec and spec.submodule_search_locations)
    inside = place.parent if place.suffix else place
    return (inside.parent if is_package else inside).resolve()


def _found_in(kind: WorkerKind, package: str) -> ModuleSpec | None:
    """Where a package is found by a kind of worker, or else here."""
    home = environment_for(kind)
    spec = None
    if not is_own(home):
        # What lies where the explorer is called goes before what is installed, as in a Python there.
        spec = PathFinder.find_spec(package, [str(Path.cwd()), *interpreter(home).paths])
    if (
        spec is None and package != "__main__"
    ):  # which is another program in the nets' own processes
        spec = importlib.util.find_spec(package)
    return spec


# The files that nets are made of


def code_of_nets(declaration: Declaration) -> tuple[Path, ...]:
    """The packages, or single modules, whose lines a page shows."""
    return tuple(dict.fromkeys(map(_code_of, declaration.nets.values())))


def _code_of(factory: Factory) -> Path:
    place = Path(factory.folder) / factory.package
    return place if place.is_dir() else place.with_suffix(".py")


def code_of(scenario: Path) -> tuple[Path, ...]:
    """Where the lines of a scenario's nets are: its folder, and packages that its nets come from."""
    places = [scenario.parent]
    for package in packages_of(scenario):
        try:
            folder = _folder_of(package)
        except UsageError:  # whoever runs the net says so
            continue
        places.append(_code_of(Factory(package, "", str(folder))))
    return tuple(places)


def packages_of(scenario: Path) -> tuple[str, ...]:
    """The packages from which a scenario takes its nets; the file need not exist."""
    try:
        content = scenario.read_bytes()
        if scenario.suffix == SENT:
            nets = decoded(content, scenario).nets.values()
            return tuple(dict.fromkeys(factory.package for factory in nets))
        tree = parsed(content, str(scenario))
    except (OSError, SyntaxError, ValueError):
        return ()
    return tuple(dict.fromkeys(_taken_from(tree)))


def _taken_from(tree: ast.Module) -> Iterator[str]:
    """The packages from which the functions of a scenario's file import what creates a net."""
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef) or function.name not in NETS:
            continue
        for statement in function.body:
            if not isinstance(statement, ast.ImportFrom) or statement.level:
                continue
            if any(alias.asname == GIVEN for alias in statement.names):
                yield (statement.module or "").partition(".")[0]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def sent(nets: Declaration, folder: Path) -> Declaration:
    """The same declaration in a file of ``folder``, which workers read, with the nets' sources as of now.

    What changes with the file are the keys of stored results.
    """
    sources: dict[str, str] = {}
    for factory in nets.nets.values():
        # Two factories may reach different definitions of one file.
        for file, digest in net_sources.sources(factory, _code_of(factory)).items():
            sources[f"{factory}: {file}"] = digest
    checkpoint = nets.checkpoint
    if checkpoint:
        digest = _digest(Path(checkpoint.file).read_bytes())
        checkpoint = msgspec.structs.replace(checkpoint, digest=digest)
    path = folder / f"{nets.name}{SENT}"
    placed = msgspec.structs.replace(nets, file=str(path), sources=sources, checkpoint=checkpoint)
    path.write_bytes(encoded(placed))
    return placed
