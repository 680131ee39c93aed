"""Environment variables of workers: quiet, one thread; and of MindSpore's, so that it writes files."""

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from explorer.environments.interpreters import interpreter, is_own
from explorer.environments.known import PROJECT, environment_for
from explorer.environments.overlay import overlay
from explorer.folders import COMPILED, caches
from explorer.model.engines import WorkerKind, plain
from explorer.model.environments import Environment
from explorer.model.passes import FINAL, PASSES, CompilerPass
from explorer.shipped import PACKAGE
from explorer.store.keys import machine

ROOT = PACKAGE.parent
"""The folder that holds the package ``explorer``, which workers must be able to import."""

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""One thread for numerical libraries.

Sums change by 1e-6 with the number of threads, and two threads on a loaded machine can be a
thousand times slower.
"""

QUIET = {"GLOG_v": "4", "PYTHONWARNINGS": "ignore", "TORCH_CPP_LOG_LEVEL": "ERROR"}
"""MindSpore logs only what is fatal; what matters arrives as an exception."""

WAITING = {"MS_DEV_LAUNCH_BLOCKING": "1"}
"""A tape waits for each operator.

MindSpore 2.10 otherwise hands it on from thread to thread, which look for work without a pause. The
numbers are the same, an operator that fails is named at once, and where all cores are busy it takes
a quarter of the time.
"""

EVERY_STEP = "3"
"""The level at which the steps within a pass are written too (2.10.0).

Level 1 writes passes alone, level 2 the backend's as well.
"""

SAVE_GRAPHS = "MS_DEV_SAVE_GRAPHS"
"""The variable that says whether passes are written, and how many of their steps (2.10.0)."""

GRAPHS_FOLDER = "MS_DEV_SAVE_GRAPHS_PATH"
"""The variable that names the folder to which passes are written (2.10.0)."""

IR = "ir"
"""The folder in a worker's scratch folder to which graphs are written."""

DUMP = "dump"
"""The folder in a worker's scratch folder to which kernels' values are written."""

SETTINGS = "MINDSPORE_DUMP_CONFIG"
"""The variable that names the file with the dump's settings."""

MOST_COMPILED = 100_000_000
"""So many bytes of compiled operations are kept; each takes 5 to 20 kB."""

OUTPUTS_ALONE = 2
"""The dump's ``input_output`` for outputs without inputs: an input is another kernel's output."""

KERNELS = "name-regex(.+-op[0-9]+)"
"""What the dump writes, by name in its own notation: kernels, and no parameters.

A parameter's values are read before the graph runs.
"""

UNREAD_FOLDERS = (f"{IR}/actor_set", f"{DUMP}/rank_0/graphs", f"{DUMP}/rank_0/execution_order")
"""Where MindSpore writes what the runtime makes of a graph, which nothing here reads (2.10.0)."""

FIRST_GRAPHS = range(20)
"""The graphs of a worker that are kept from being written as protocol buffers: few capture more."""

UNREAD_FILES = (
    *(
        f"ms_output_{step}_{number}.pb"
        for step in ("before_opt", "after_opt", "vm_build")
        for number in FIRST_GRAPHS
    ),
    "ms_output_optimize.pb",
)
"""What it writes of each graph beside its text, by the graph's number in the process (2.10.0)."""


def capture_environment(scratch: Path, values: bool = True) -> dict[str, str]:
    """Variables of a worker that captures graphs; prepares ``scratch`` for what it will write.

    MindSpore 2.10 reads them all when it starts. Without ``values`` no kernel's values are written:
    such a worker captures graphs without values, and sooner.
    """
    _keep_out_unread(scratch)
    passes = _written_passes(scratch, PASSES)
    if not values:
        return passes
    return {**passes, SETTINGS: str(_settings(scratch))}


def _written_passes(scratch: Path, passes: Iterable[CompilerPass]) -> dict[str, str]:
    return {
        SAVE_GRAPHS: "1",
        GRAPHS_FOLDER: str(scratch / IR),
        "MS_DEV_DUMP_IR_PASSES": ",".join(compiler_pass.file for compiler_pass in passes),
    }


def _keep_out_unread(scratch: Path) -> None:
    """Occupy the names under which MindSpore would write what nothing reads.

    Where it cannot open a file it makes no text for it, which for a large net is a twelfth of a
    capture (2.10.0). No setting turns these files off.
    """
    for folder in UNREAD_FOLDERS:
        path = scratch / folder
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for name in UNREAD_FILES:
        with contextlib.suppress(OSError):  # it is there, or this file system has no links
            (scratch / IR / name).symlink_to("absent/absent")


def _settings(scratch: Path) -> Path:
    settings = scratch / "dump.json"
    common = {
        "op_debug_mode": 0,  # all kernels, not those that overflow alone
        "dump_mode": 1,  # what "kernels" names
        "path": str(scratch / DUMP),
        "net_name": "Net",
        "iteration": "all",  # a worker captures several graphs; "0" dumps the first run alone
        "saved_data": "tensor",
        "input_output": OUTPUTS_ALONE,
        "kernels": [KERNELS],
        "support_device": [0],
    }
    # With "trans_flag" MindSpore converts the device's own layout of a value to NCHW.
    end_to_end = {"enable": True, "trans_flag": True}
    dump = {"common_dump_settings": common, "e2e_dump_settings": end_to_end}
    settings.write_text(json.dumps(dump))
    return settings


def passes_environment(scratch: Path) -> dict[str, str]:
    """Variables of a worker that writes down what each step of a compiler pass makes of a program."""
    return {SAVE_GRAPHS: EVERY_STEP, GRAPHS_FOLDER: str(scratch / IR)}


def jax_environment(_: Path) -> dict[str, str]:
    """Variables of JAX's worker: no sum depends on the number of threads, and memory is left to others.

    What it compiles, an operation a file, is kept: to compile is most of what an eager step takes.
    """
    flags = (os.environ.get("XLA_FLAGS", ""), "--xla_cpu_multi_thread_eigen=false")
    return {
        "XLA_FLAGS": " ".join(filter(None, flags)),
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        "JAX_COMPILATION_CACHE_DIR": str(compiled()),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }


def compiled() -> Path:
    """The folder of what was compiled for this machine's processor, emptied where it has grown large."""
    units = json.dumps(machine(), sort_keys=True).encode()
    folder = caches() / COMPILED / hashlib.sha256(units).hexdigest()[:16]
    with contextlib.suppress(OSError):
        if sum(entry.stat().st_size for entry in os.scandir(folder)) > MOST_COMPILED:
            shutil.rmtree(folder, ignore_errors=True)
    return folder


ENVIRONMENTS: dict[WorkerKind, Callable[[Path], dict[str, str]]] = {
    "mindspore": lambda _: WAITING,
    "mindspore-second": lambda _: WAITING,
    "mindspore-capture": capture_environment,
    "mindspore-passes": passes_environment,
    "jax": jax_environment,
    # Its workers are found as here; its own folder is in no project.
    "sweep": lambda _: {PROJECT: os.environ.get(PROJECT) or os.getcwd()},
}
"""The kinds of worker that need variables of their own, which are made for a scratch folder."""


def worker_environment(
    kind: WorkerKind, scratch: Path, home: Environment | None = None
) -> dict[str, str]:
    """All variables of a worker of a kind, in the environment ``home`` or where its kind runs."""
    environment = _surroundings(home or environment_for(kind), scratch)
    if plain(kind) in ENVIRONMENTS:
        environment.update(ENVIRONMENTS[plain(kind)](scratch))
    return environment


def nursery_environment(scratch: Path, home: Environment | None = None) -> dict[str, str]:
    """All variables of a process from which workers are forked.

    Whether a tape waits is read when MindSpore is imported; what else workers are told at their
    start is read when they first compile (2.10.0). Memory is given by what gives it to the reader's
    own programs: under mimalloc, with which MindSpore compiles a little sooner, its tape takes
    ``cumprod`` along a negative axis for the identity in one backward of ten (2.10.0).
    """
    return {**_surroundings(home or environment_for("mindspore"), scratch), **WAITING}


def program_environment(home: Environment, scratch: Path) -> dict[str, str]:
    """All variables of a program of the user's own, with this package beside its own modules.

    What its compiler makes is written into ``scratch``: a step that GRAPH_MODE compiles is recorded from it.
    """
    surroundings = dict(os.environ)
    if SAVE_GRAPHS not in surroundings:  # the user's own graphs go where the user wants them
        surroundings.update(_written_passes(scratch, [FINAL]))
    if is_own(home):
        return {**surroundings, "PYTHONPATH": _joined(str(ROOT), os.environ.get("PYTHONPATH"))}
    return {**surroundings, **_elsewhere(home, scratch)}


def _surroundings(home: Environment, scratch: Path) -> dict[str, str]:
    # What frameworks, nets and nested workers leave in temporary folders goes with the worker's own.
    own = {"TMPDIR": str(scratch)}
    surroundings = {**os.environ, **ONE_THREAD, **QUIET, **own}
    if is_own(home):
        return {**surroundings, "PYTHONPATH": _joined(str(ROOT), os.environ.get("PYTHONPATH"))}
    return {**surroundings, **_elsewhere(home, scratch)}


def _elsewhere(home: Environment, scratch: Path) -> dict[str, str]:
    """What a worker in another environment finds modules and programs by; nothing is written there."""
    # A link to the package alone: the folder that it is in may hold packages for another Python.
    folder = scratch / "path"
    folder.mkdir()
    (folder / PACKAGE.name).symlink_to(PACKAGE)
    programs = Path(interpreter(home).prefix) / "bin"
    return {
        "PYTHONPATH": _joined(str(folder), str(overlay(home)), os.environ.get("PYTHONPATH")),
        "PYTHONHOME": "",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": _joined(str(programs), os.environ.get("PATH")),
    }


def _joined(*paths: str | None) -> str:
    return os.pathsep.join(filter(None, paths))
