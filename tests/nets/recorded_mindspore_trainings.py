"""Training programs of MindSpore whose steps are all recorded, run in a process with it alone.

`python recorded_mindspore_trainings.py OUT` runs each program with and without
explorer.recorder(training=True), writes the trainings into OUT, and prints what each computed as JSON.
"""

import json
import random
import sys
from contextlib import nullcontext
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from recorded_mindspore_steps import PROGRAMS, REFUSED, Program

import explorer

STEPS = 6
NAMES = ("plain", "one_step_cell", "auxiliary", "micro_batches", "loss_scaling", "hooks")


def train(name, recorder=None):
    """The losses of all steps and the weights at the end, as exact numbers."""
    random.seed(0)
    np.random.seed(0)
    ms.set_seed(0)
    step = PROGRAMS[name][0]
    program = Program(recomputes=False)
    losses = []
    for _ in range(STEPS):
        x = ms.Tensor(np.random.randn(8, 6).astype(np.float32))
        y = ms.Tensor(np.random.randint(0, 3, (8,)).astype(np.int32))
        with recorder.step() if recorder else nullcontext():
            losses.append(float(step(program, x, y).asnumpy()))
    weights = [float(it.asnumpy().astype(np.float64).sum()) for it in program.net.get_parameters()]
    return losses, weights


def recorded(name, out, file="", **options):
    recorder = explorer.recorder(training=True, out=out / f"{file or name}.training", **options)
    computed = train(name, recorder)
    recorder.write()
    return computed


def left_behind():
    """What the recorder replaces in MindSpore, as it is now."""
    from mindspore.common.api import _pynative_executor

    functions = (nn.Cell.__call__, ops.clip_by_global_norm, ms.amp.DynamicLossScaler.scale)
    return [str(function) for function in functions] + [sorted(vars(_pynative_executor))]


def main(out):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    before = left_behind()
    programs = {name: [train(name), recorded(name, out)] for name in NAMES}
    document = {
        "programs": programs,
        "with_graphs": recorded("micro_batches", out, "graphs", every=3),
        "left_behind": [before, left_behind()],
        "foreign": sorted(REFUSED & set(sys.modules)),
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
