"""Two nets of one's own package, named by the functions that make them, and a scenario file of them."""

import ast
import hashlib
import importlib.util
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from explorer.model.arrays import AnyArray
from explorer.model.engines import Framework
from explorer.model.errors import UsageError
from explorer.text.choices import choose

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

INPUTS = "inputs.npz"
PARAMETERS = "parameters.npz"

CHECKPOINTS = {".ckpt": "mindspore", ".pt": "torch", ".pth": "torch"}
"""Files that a framework reads into its own net, which the other then starts like.

PyTorch reads them with weights_only, and MindSpore's are no pickles: neither runs what a file says.
"""

WRITTEN = "explorer-nets-"
"""How the folder begins in which a scenario's file stands while nets of one's own are asked."""

TAKEN = re.compile(r"^    from (\w+)[\w.]* import \w+ as given$", re.MULTILINE)
"""The line of a scenario's file that takes a net from a package."""

DECLARED = re.compile(r"^FACTORIES = (.*)$", re.MULTILINE)
"""The line of a written file that says what makes its nets."""

FACTORY = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


class OwnNets(msgspec.Struct, frozen=True, kw_only=True):
    """Nets that exist already, and what they are to be compared on.

    ``mindspore`` and ``torch`` are "package.module:function", "" where there is no such net; what
    they name is called without arguments. ``inputs`` are arrays by name, in the order of the nets'
    arguments. ``parameters`` are the starting values by PyTorch's names, and ``checkpoint`` is the
    file of one framework whose net reads it; at most one of both is given. ``declarations`` are
    keyed by the names in a scenario file.
    """

    name: str
    mindspore: str
    torch: str
    inputs: dict[str, Any]
    parameters: dict[str, Any] | None = None
    checkpoint: Path | None = None
    declarations: dict[str, Any] = {}


def own_nets(
    *,
    mindspore: str = "",
    torch: str = "",
    inputs: Mapping[str, Any] | str | Path,
    parameters: Mapping[str, Any] | str | Path | None = None,
    name: str = "",
    declarations: Mapping[str, Any],
) -> OwnNets:
    """The record of two nets; raises UsageError for what cannot be nets, inputs or parameters."""
    factories = [factory for factory in (mindspore, torch) if factory]
    if not factories:
        raise UsageError(
            'no net is given; give the function that creates it: torch="package.module:function"'
        )
    for factory in factories:
        check_factory(factory)
    values, checkpoint = _start(parameters)
    return OwnNets(
        name=name or _name_of(factories[-1]),
        mindspore=mindspore,
        torch=torch,
        inputs=_arrays("inputs", inputs),
        parameters=values,
        checkpoint=checkpoint,
        declarations={_declared(key): _literal(key, value) for key, value in declarations.items()},
    )


def check_factory(factory: str) -> None:
    """Raise UsageError unless it is "package.module:function" of a package that can be imported."""
    if not isinstance(factory, str) or not FACTORY.fullmatch(factory):
        raise UsageError(
            f"{factory!r} does not name a function that creates a net; write"
            " 'package.module:function', by which worker processes import it"
        )
    folder_of(factory)


def _name_of(factory: str) -> str:
    module, _, function = factory.partition(":")
    name = f"{module}_{function}".replace(".", "_")
    return name.strip("_")


def _declared(key: str) -> str:
    choose("declaration", key, DECLARATIONS)
    return DECLARATIONS[key]


def _literal(key: str, value: Any) -> Any:
    """The value itself, if it can be written as a literal."""
    try:
        if ast.literal_eval(repr(value)) == value:
            return value
    except (ValueError, SyntaxError):
        pass
    raise UsageError(
        f"{key} must consist of numbers, strings, and tuples, lists or dicts of them, got {value!r}"
    )


def _start(
    parameters: Mapping[str, Any] | str | Path | None,
) -> tuple[dict[str, AnyArray] | None, Path | None]:
    """The starting values, or the file from which a framework reads them."""
    if parameters is None:
        return None, None
    if isinstance(parameters, (str, Path)) and Path(parameters).suffix in CHECKPOINTS:
        return None, _file("parameters", Path(parameters))
    return _arrays("parameters", parameters), None


def _arrays(what: str, given: Mapping[str, Any] | str | Path) -> dict[str, AnyArray]:
    """The arrays of a mapping, or of a file with no pickles in it."""
    if not isinstance(given, (str, Path)):
        if not isinstance(given, Mapping):
            raise UsageError(
                f"{what} must be arrays by name, such as {{'x': array}}, or the path of a file with"
                f" them, got a {type(given).__name__}"
            )
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
        raise UsageError(f"{what}: {str(path)!r} cannot be read: {error}") from error
    allowed = [".npz", ".safetensors"] + (list(CHECKPOINTS) if what == "parameters" else [])
    raise UsageError(
        f"{what}: {str(path)!r} has an unknown file format; allowed: {', '.join(allowed)}"
    )


def _array(what: str, value: Any) -> AnyArray:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:  # a ragged list; a tensor elsewhere
        raise UsageError(f"{what} cannot be converted to an array: {error}") from error
    if array.dtype.kind not in "biuf":
        raise UsageError(f"{what} must be an array of numbers, got dtype {array.dtype}")
    return array


def _file(what: str, path: Path) -> Path:
    if not path.is_file():
        raise UsageError(f"{what}: the file {str(path)!r} does not exist")
    return path.resolve()


def folder_of(factory: str) -> Path:
    """The folder from which a factory's package is imported; raises UsageError where it is not found.

    Only looked for: nothing of it is run.
    """
    package = factory.partition(":")[0].partition(".")[0]
    # The program that runs here is another one in the nets' own processes.
    spec = importlib.util.find_spec(package) if package != "__main__" else None
    # The command `explorer` does not look where it is called, as `python -m explorer` does.
    spec = spec or PathFinder.find_spec(package, [str(Path.cwd())])
    places = [*(spec.submodule_search_locations or [])] if spec else []
    if spec and spec.origin and spec.has_location:
        places.insert(0, spec.origin)
    if not places:
        raise UsageError(
            f"{factory!r}: Python finds no module {package!r} on its path ({_shown_path()}); "
            "install the package, or run from the folder that contains it"
        )
    place = Path(places[0])
    is_package = bool(spec and spec.submodule_search_locations)
    inside = place.parent if place.suffix else place
    return (inside.parent if is_package else inside).resolve()


def code_of_nets(nets: OwnNets) -> tuple[Path, ...]:
    """The packages, or single modules, whose lines a page shows."""
    factories = [factory for factory in (nets.mindspore, nets.torch) if factory]
    return tuple(dict.fromkeys(map(_code_of_factory, factories)))


def _code_of_factory(factory: str) -> Path:
    package = factory.partition(":")[0].partition(".")[0]
    place = folder_of(factory) / package
    return place if place.is_dir() else place.with_suffix(".py")


def code_of(scenario: Path) -> tuple[Path, ...]:
    """Where the lines of a scenario's nets are: its folder, and packages that its nets come from."""
    packages = filter(_is_installed, packages_of(scenario))
    return (scenario.parent, *map(_code_of_factory, packages))


def _is_installed(package: str) -> bool:
    try:
        folder_of(package)
    except UsageError:  # whoever runs the net says so
        return False
    return True


def packages_of(scenario: Path) -> tuple[str, ...]:
    """The packages from which a scenario's file takes its nets, as its text says; it need not exist."""
    try:
        text = scenario.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ()
    return tuple(dict.fromkeys(TAKEN.findall(text)))


def factory_of(scenario: Path, framework: Framework) -> str:
    """The function that creates a framework's net in a file written by write_nets()."""
    # From the text: a scenario's file is run in other processes.
    (factories,) = DECLARED.findall(scenario.read_text(encoding="utf-8"))
    return str(ast.literal_eval(factories)[framework])


def is_written(scenario: Path) -> bool:
    """Whether a scenario's file was written by write_nets(), and is removed after the run."""
    return scenario.parent.name.startswith(WRITTEN)


def _shown_path() -> str:
    return ", ".join(repr(place) for place in sys.path[:4]) + (", …" if len(sys.path) > 4 else "")


def sources(factory: str) -> dict[str, str]:
    """The digests of the files that a factory's net may be made of: all of its top-level package."""
    package = factory.partition(":")[0].partition(".")[0]
    folder = folder_of(factory)
    single = folder / f"{package}.py"
    files = [single] if single.is_file() else sorted((folder / package).rglob("*.py"))
    return {str(path.relative_to(folder)): _digest(path.read_bytes()) for path in files}


def _digest(content: bytes | memoryview) -> str:
    return hashlib.sha256(content).hexdigest()


def write_nets(nets: OwnNets, folder: Path) -> Path:
    """Write a scenario file of the nets into ``folder``, with their arrays beside it; its path."""
    np.savez(folder / INPUTS, *_single(nets.inputs))
    if nets.parameters is not None:
        np.savez(folder / PARAMETERS, *_single(nets.parameters))
    path = folder / f"{nets.name}.py"
    path.write_text("\n".join(_lines(nets)) + "\n", encoding="utf-8")
    return path


def _lines(nets: OwnNets) -> Iterator[str]:
    """The text of a scenario file, which changes with all that the nets are made of."""
    yield from _head(nets, [factory for factory in (nets.mindspore, nets.torch) if factory])
    yield from _arrays_read("inputs", INPUTS, nets.inputs)
    if nets.parameters is not None:
        yield from _arrays_read("parameters", PARAMETERS, nets.parameters)
    for framework, factory in (("mindspore", nets.mindspore), ("torch", nets.torch)):
        if factory:
            yield from _net(framework, factory, nets.checkpoint)


def _head(nets: OwnNets, factories: list[str]) -> Iterator[str]:
    """The lines above a scenario's functions."""
    yield f'"""{" beside ".join(factories)}."""'
    yield ""
    yield "import sys\nfrom pathlib import Path\n\nimport numpy as np\n"
    yield "FOLDER = Path(__file__).parent"
    for folder in dict.fromkeys(str(folder_of(factory)) for factory in factories):
        yield f"sys.path.append({folder!r})"
    by_framework = {"mindspore": nets.mindspore, "torch": nets.torch}
    yield f"FACTORIES = {by_framework!r}"
    for name, value in nets.declarations.items():
        yield f"{name} = {value!r}"
    if nets.checkpoint and CHECKPOINTS[nets.checkpoint.suffix] == "mindspore":
        yield 'STARTS_FROM = "mindspore"'
    for factory in factories:
        for name, digest in sources(factory).items():
            yield f"# {name} {digest}"


def _arrays_read(function: str, file: str, arrays: Mapping[str, AnyArray]) -> Iterator[str]:
    # Places and no names in the file: numpy takes no array called "file". An array that stands
    # under two names is one array to the nets too.
    places = _places(arrays)
    yield f"\n\ndef {function}():"
    for array in _single(arrays):
        # Of the values: the file that they are written to has its time in it.
        yield f"    # {array.dtype} {array.shape} {_digest(np.ascontiguousarray(array).data)}"
    yield f"    places = {places!r}"
    yield f"    with np.load(FOLDER / {file!r}) as arrays:"
    yield "        read = [arrays[name] for name in arrays.files]"
    yield "    return {name: read[place] for name, place in places.items()}"


def _single(arrays: Mapping[str, AnyArray]) -> list[AnyArray]:
    """The arrays, each once."""
    return list({id(array): array for array in arrays.values()}.values())


def _places(arrays: Mapping[str, AnyArray]) -> dict[str, int]:
    """The place of each name's array among those of _single()."""
    places = {id(array): place for place, array in enumerate(_single(arrays))}
    return {name: places[id(array)] for name, array in arrays.items()}


LOADING = {
    "torch": (
        "    import pickle",
        "    import torch",
        "    from explorer.model.errors import UsageError",
        "    try:",
        "        read = torch.load({file!r}, map_location='cpu', weights_only=True)",
        "    except pickle.UnpicklingError as error:",
        "        raise UsageError({refused!r}) from error",
        "    net.load_state_dict(read)",
    ),
    "mindspore": (
        "    import mindspore",
        "    mindspore.load_param_into_net(net, mindspore.load_checkpoint({file!r}))",
    ),
}
"""The lines that read a framework's own file into its net."""


NO_WEIGHTS = (
    "{!r} contains more than tensors and could run code when it is loaded (weights_only=True rejects "
    "it); save only the weights: torch.save(net.state_dict(), FILE)"
)
"""The error for a file whose pickles PyTorch would have to run."""


def _net(framework: str, factory: str, checkpoint: Path | None) -> Iterator[str]:
    module, _, attribute = factory.partition(":")
    first, *rest = attribute.split(".")
    yield f"\n\ndef {framework}_net():"
    yield f"    from {module} import {first} as given\n"
    yield f"    net = {'.'.join(['given', *rest])}()"
    if checkpoint and CHECKPOINTS[checkpoint.suffix] == framework:
        yield f"    # {_digest(checkpoint.read_bytes())}"
        for line in LOADING[framework]:
            yield line.format(file=str(checkpoint), refused=NO_WEIGHTS.format(checkpoint.name))
    yield "    return net"
