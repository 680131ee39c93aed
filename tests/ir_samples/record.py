"""Records the IR of nets' compiled gradients with the MindSpore that is installed.

``python -m tests.ir_samples.record [FILE.py …]`` needs mindspore, numpy and
msgspec, and writes ``versions/VERSION.msgpack.xz``: the nets of ``scenarios``
and ``tests/nets``, or only the given ones anew. README.md says how to record
another version.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.ir_samples.recorded import VERSIONS, versions, write
from tests.ir_samples.recorded import programs as recorded
from tests.support.nets import NETS, TABLE
from tests.support.scenario_files import written

ROOT = Path(__file__).resolve().parents[2]

PASS = "validate"
"""The pass whose program is handed to the kernels."""

COMPILE = "compile"
"""The argument by which a process is the one that compiles."""

FOLDER = re.compile(r"(?<=In file )/\S*?/(?=site-packages/|[^/\s]+\.py:)")
"""The folder of a quoted file that is not one of the project."""

PASSING = re.compile(
    r'0x[0-9a-f]{6,}|(?<=unique_id: ")\d+|(?<=_)\d+(?=", forward_unique_id)'
    r"|(?<=compile_phase: train\.)\d+\.\d+"
)
"""Addresses and numbers that count on through the life of a process."""

TOO_LONG = 120
"""Seconds after which a net is left out, with the process that compiles it."""


def nets(folder: Path) -> list[Path]:
    """The files of the nets that are recorded by default: those of the table are written to a folder."""
    files = [*(ROOT / "scenarios").rglob("*.py"), *NETS.rglob("*.py")]
    files += [written(folder, net.text, f"tests.nets.{name}.py") for name, net in TABLE.items()]
    return sorted(file for file in files if "def mindspore_net" in file.read_text("utf-8"))


def main(files: list[Path]) -> None:
    """Compile nets, by default all, in processes of their own, and pack what they wrote."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = files or nets(folder)
        _compile_all(files, folder)
        version = (folder / "version").read_text(encoding="utf-8")
        programs = recorded(version) if version in versions() else {}
        for file in files:
            program = folder / f"{_name(file)}.ir"
            if program.is_file():
                text = program.read_text(encoding="utf-8", errors="surrogateescape")
                programs[_name(file)] = text
    write(version, programs)
    print(f"{version}: {len(programs)} nets in {VERSIONS}")


def _name(file: Path) -> str:
    """The name of a net: its path in the project, with dots for slashes."""
    if file.is_relative_to(ROOT):
        file = file.relative_to(ROOT)
        return ".".join(file.with_suffix("").parts)
    return file.stem


def _compile_all(files: list[Path], folder: Path) -> None:
    """Compile each file; one that ends its process is left out."""
    left = list(files)
    while left:
        command = [sys.executable, "-m", "tests.ir_samples.record", COMPILE, str(folder)]
        environment = {**os.environ, **_environment(folder)}
        subprocess.run([*command, *map(str, left)], env=environment, cwd=ROOT, check=False)
        tried = (folder / "tried").read_text(encoding="utf-8").splitlines()
        left = [file for file in left if str(file) not in tried]


def _environment(folder: Path) -> dict[str, str]:
    """The variables by which MindSpore writes its passes, which it reads when it starts."""
    return {
        "MS_DEV_SAVE_GRAPHS": "1",
        "MS_DEV_SAVE_GRAPHS_PATH": str(folder / "passes"),
        "MS_DEV_DUMP_IR_PASSES": PASS,
        "GLOG_v": "4",
        "PYTHONWARNINGS": "ignore",
    }


# In the process that compiles


def compile_nets(folder: Path, files: Iterable[Path]) -> None:
    """Compile the gradient of each net, and keep its program."""
    import mindspore as ms

    (folder / "version").write_text(ms.__version__, encoding="utf-8")
    for file in files:
        with (folder / "tried").open("a", encoding="utf-8") as tried:
            tried.write(f"{file}\n")
        signal.alarm(TOO_LONG)
        for path in (folder / "passes").rglob("*.ir"):
            path.unlink()
        try:
            _run_gradient(file)
        except Exception as error:
            # What a version refuses does not belong into its corpus.
            print(f"{_name(file)}: {type(error).__name__}: {error}"[:200], file=sys.stderr)
            continue
        program = _last(folder / "passes")
        if program is not None:
            text = program.read_text(encoding="utf-8", errors="surrogateescape")
            target = folder / f"{_name(file)}.ir"
            target.write_text(lasting(text), encoding="utf-8", errors="surrogateescape")


def _run_gradient(file: Path) -> None:
    """Run ``ms.value_and_grad`` of a net for its inputs and weights, in graph mode."""
    import mindspore as ms

    from explorer.engines.mindspore.gradient_cell import wrapped
    from explorer.model.cases import GradCase
    from explorer.scenario.load import load, make_net

    ms.set_context(mode=ms.GRAPH_MODE)
    scenario = load(file)
    net = make_net(scenario, "mindspore")
    weights = None
    if isinstance(net, ms.nn.Cell):
        net.set_train(scenario.train)
        weights = ms.ParameterTuple(net.trainable_params()) or None
    arrays = scenario.inputs()
    floating = tuple(
        place for place, array in enumerate(arrays.values()) if array.dtype.kind in "fc"
    )
    case = GradCase("value_and_grad", grad_position=floating or None)
    inputs = {id(array): ms.Tensor(array) for array in arrays.values()}
    arguments = [inputs[id(array)] for array in arrays.values()]
    wrapped(net, case, weights, len(arrays))(*arguments)


def _last(folder: Path) -> Path | None:
    """The last program that the pass wrote: their numbers go up."""
    programs = folder.rglob(f"*{PASS}_[0-9]*.ir")
    return max(programs, key=lambda path: int(path.stem.rpartition("_")[2]), default=None)


def lasting(text: str) -> str:
    """A text without what differs from machine to machine, and from run to run.

    That is the folders of the files whose lines it quotes, and addresses and
    numbers of nodes, which are counted anew.
    """
    text = text.replace(f"{ROOT}/", "")
    text = FOLDER.sub("", text)
    numbers: dict[str, int] = {}

    def numbered(match: "re.Match[str]") -> str:
        number = numbers.setdefault(match[0], len(numbers) + 1)
        return f"{match[0][:2]}{number:012x}" if match[0].startswith("0x") else str(number)

    return PASSING.sub(numbered, text)


if __name__ == "__main__":
    if sys.argv[1:2] == [COMPILE]:
        compile_nets(Path(sys.argv[2]), map(Path, sys.argv[3:]))
    else:
        main([Path(name).resolve() for name in sys.argv[1:]])
