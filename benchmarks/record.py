"""What recording a step in a training program costs, beside the plain step, and beside no recorder at all.

The step is forward, backward and an update of a residual net, in one process with one thread; every
part is timed in turn, ROUNDS times. A ratio is that of processor times in one round: with the trace
written to disk, of a step that a recorder() leaves out, and of each step of a recorded training, whose
file grows meanwhile. The first step that is recorded is beside the first plain one: JAX compiles in both.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from benchmarks._figures import Figure, ratios
from benchmarks._presenting import parser, present
from explorer.environments.known import home_of, in_use
from explorer.model.engines import Framework, WorkerKind
from explorer.workers.environments import worker_environment

ROOT = Path(__file__).resolve().parent.parent
NETS = ROOT / "tests" / "nets"
BLOCKS = (7, 20, 75)
REFERENCE = 75
ROUNDS = 3
LIMIT = 12.0
"""How many times the plain step a recorded one may take, with the trace on disk; the goal is 6."""

FIRST_LIMIT = 10.0
"""How many times the first plain step the first recorded one may take in JAX, which compiles in both."""

TRAINING_LIMIT = 10.0
"""How many times the plain step a step of a recorded training may take where it is compiled as a whole."""

STEPS = 10
"""So many steps are taken together where one costs too little to be timed."""

PARTS = ("plain", "recorded", "left out", "training", "plain steps")

STEP = {
    "torch": """
import torch
torch.manual_seed(0)
net = scenario["torch_net"]()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
arguments = [torch.from_numpy(array) for array in scenario["inputs"]().values()]

def step():
    optimizer.zero_grad()
    loss, _ = net(*arguments)
    loss.backward()
    optimizer.step()
""",
    "mindspore": """
import mindspore as ms
ms.set_seed(0)
net = scenario["mindspore_net"]()
net.set_train()
optimizer = ms.nn.SGD(net.trainable_params(), 0.01)
arguments = [ms.Tensor(array) for array in scenario["inputs"]().values()]
gradient = ms.value_and_grad(net, None, optimizer.parameters, has_aux=True)

def step():
    (loss, _), gradients = gradient(*arguments)
    optimizer(gradients)
    loss.asnumpy()
""",
    "jax": """
import jax
params = scenario["parameters"]()
arguments = list(scenario["inputs"]().values())
gradient = jax.value_and_grad(scenario["loss"])

def step():
    loss, gradients = gradient(params, *arguments)
    jax.block_until_ready(jax.tree.map(lambda p, g: p - 0.01 * g, params, gradients))
""",
}

COMPILED = """
gradient = jax.jit(gradient)
"""
"""What the step of a framework that compiles has beside."""

PROGRAMS: dict[str, tuple[Framework, str]] = {
    "torch": ("torch", STEP["torch"]),
    "mindspore": ("mindspore", STEP["mindspore"]),
    "jax": ("jax", STEP["jax"]),
    "jax, compiled": ("jax", STEP["jax"].replace("\ndef step", f"{COMPILED}\ndef step")),
}
"""The framework of each program, and what makes its step."""

COMPILED_WHOLE = ("jax, compiled",)
"""Programs that run compiled, and operation by operation beside where they are recorded.

The largest net is left out of them, which takes minutes to be compiled.
"""

KINDS: dict[Framework, WorkerKind] = {
    "torch": "torch",
    "mindspore": "mindspore-plain",
    "jax": "jax",
}
"""The kinds of worker in whose environments the programs run."""

FILES: dict[Framework, str] = {
    "torch": "torch_residual.py",
    "mindspore": "ms_residual.py",
    "jax": "jax_residual.py",
}

SETUP = """
import gc, runpy, sys, time
from pathlib import Path
import explorer

rounds, folder = int(sys.argv[2]), Path(sys.argv[3])
scenario = runpy.run_path(sys.argv[1])
seconds = []
"""

MEASURE = f"""
def recorded():
    with explorer.record(folder / "step.trace"):
        step()

def left_out():
    recorder = explorer.recorder(first=0, out=folder)
    for _ in range({STEPS}):
        with recorder.step():
            step()

training = explorer.recorder(training=True, out=folder / "run.training")
known = {{
    "plain": step, "recorded": recorded, "left out": left_out,
    "training": lambda: training_steps(), "plain steps": lambda: plain_steps(),
}}
parts = [known[name] for name in sys.argv[4:]]

def training_steps():
    for _ in range({STEPS}):
        with training.step():
            step()

def plain_steps():
    for _ in range({STEPS}):
        step()

for _ in range(1 + rounds):  # the first of which compiles
    for part in parts:
        gc.collect()
        start = time.process_time()
        part()
        seconds.append(time.process_time() - start)
print((folder / "step.trace").stat().st_size, *seconds)
"""


def seconds_of(program: str, blocks: int) -> tuple[int, dict[str, tuple[float, ...]]]:
    """The bytes of a trace of one size, and the processor's seconds by part: the first, and of each round."""
    framework, step = PROGRAMS[program]
    home = home_of(framework)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as scratch:
        file = FILES[framework]
        net = Path(folder) / file
        code = re.sub(
            r"^BLOCKS = \d+$", f"BLOCKS = {blocks}", (NETS / file).read_text(), flags=re.M
        )
        net.write_text(code)
        measured = Path(folder) / "measure.py"
        measured.write_text(SETUP + step + MEASURE)
        variables = {**worker_environment(KINDS[framework], Path(scratch), home)}
        done = subprocess.run(
            [str(home.python), str(measured), str(net), str(ROUNDS), folder, *PARTS],
            cwd=folder,
            env=variables,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    size, *figures = done.stdout.splitlines()[-1].split()
    seconds = [float(figure) for figure in figures]
    return int(size), {part: tuple(seconds[at :: len(PARTS)]) for at, part in enumerate(PARTS)}


def measure() -> Iterator[Figure]:
    """What a recorded step is of a plain one, a framework and a size after the other."""
    frameworks = in_use()
    programs = [name for name, (framework, _) in PROGRAMS.items() if framework in frameworks]
    for program, blocks in product(programs, BLOCKS):
        if program in COMPILED_WHOLE and blocks == REFERENCE:
            continue
        size, timed = seconds_of(program, blocks)
        seconds = {part: of_part[1:] for part, of_part in timed.items()}
        name = f"{program}, {blocks} blocks"
        yield Figure(
            name=f"{name}: first step recorded and written ÷ first plain step",
            unit="×",
            basis="ratio of processor times",
            rounds=ratios(timed["recorded"][:1], timed["plain"][:1]),
            bar=FIRST_LIMIT if PROGRAMS[program][0] == "jax" else None,
        )
        yield Figure(
            name=f"{name}: plain step",
            unit="s",
            basis="processor",
            rounds=seconds["plain"],
            note=f"a trace of {size / 1e6:.1f} MB",
        )
        yield Figure(
            name=f"{name}: recorded and written ÷ plain",
            unit="×",
            basis="ratio of processor times",
            rounds=ratios(seconds["recorded"], seconds["plain"]),
            bar=LIMIT if blocks == REFERENCE else None,
        )
        yield Figure(
            name=f"{name}: steps that are left out ÷ plain",
            unit="×",
            basis="ratio of processor times",
            rounds=ratios(seconds["left out"], seconds["plain steps"]),
        )
        yield Figure(
            name=f"{name}: steps of a recorded training ÷ plain",
            unit="×",
            basis="ratio of processor times",
            rounds=ratios(seconds["training"], seconds["plain steps"]),
            bar=TRAINING_LIMIT if program in COMPILED_WHOLE else None,
        )


if __name__ == "__main__":
    sys.exit(present(measure(), parser(__doc__).parse_args().figures))
