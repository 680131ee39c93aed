"""The option ``--new`` of ``scenario``: writes a scenario file to start from."""

import re
from pathlib import Path

from explorer.cli import exit_codes
from explorer.cli.output import print_written
from explorer.model.errors import UsageError
from explorer.report.files import put_file
from explorer.scenario.own_nets import factory_of
from explorer.scenario.templates import new_scenario, scenario_of_factories

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def write_new(name: str, factories: tuple[str, str] | None, inputs: Path | None) -> int:
    """Write NAME.py into the current folder; an existing file is not changed.

    ``factories`` make MindSpore's net and PyTorch's, and ``inputs`` are theirs; None if the file is
    to define its own net.
    """
    path = Path(f"{name.removesuffix('.py')}.py")
    if not NAME.fullmatch(path.stem) or path.parent != Path():
        raise UsageError(
            f"{name!r} is not a valid name of a scenario; use letters, digits and _, a letter first"
        )
    if path.exists():
        raise UsageError(f"{str(path)!r} exists already; choose another name, or delete the file")
    if inputs and not factories:
        raise UsageError(
            "--inputs needs --from-factories, the functions that create the nets; add it"
        )
    text = _text(path.stem, factories, inputs) if factories else new_scenario(path.stem)
    print_written(put_file(path, text.encode()))
    if factories and not inputs:
        print(f"next: in {path}, replace the placeholder arrays in inputs(); then run")
    else:
        print("next: run", end=" ")
    print(f"python -m explorer scenario {path}")
    return exit_codes.AS_EXPECTED


def _text(name: str, factories: tuple[str, str], inputs: Path | None) -> str:
    if inputs and not (inputs.suffix == ".npz" and inputs.is_file()):
        raise UsageError(
            f"--inputs {str(inputs)!r} is not an .npz file; write one with numpy.savez"
        )
    by_framework = dict(zip(("mindspore", "torch"), factories, strict=True))
    folders: dict[Path, None] = {}
    for factory in factories:
        folders[Path(factory_of(factory).folder)] = None
    return scenario_of_factories(name, by_framework, folders, inputs, Path.cwd())
