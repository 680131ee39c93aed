"""Training programs of MindSpore whose steps are all recorded, run in a process with it alone.

`python recorded_mindspore_trainings.py OUT` runs each program with and without
explorer.recorder(training=True), writes the trainings into OUT, and prints what each computed as JSON.
"""

import json
import sys
from functools import partial
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

import mindspore as ms
from mindspore import nn, ops
from recorded_mindspore_steps import REFUSED, train
from recording_programs import recorded

train = partial(train, count=6)
NAMES = ("plain", "one_step_cell", "auxiliary", "micro_batches", "loss_scaling", "hooks")


def left_behind():
    """What the recorder replaces in MindSpore, as it is now."""
    from mindspore.common.api import _pynative_executor

    functions = (nn.Cell.__call__, ops.clip_by_global_norm, ms.amp.DynamicLossScaler.scale)
    return [str(function) for function in functions] + [sorted(vars(_pynative_executor))]


def main(out):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    before = left_behind()
    programs = {name: [train(name), recorded(train, name, out)] for name in NAMES}
    document = {
        "programs": programs,
        "with_graphs": recorded(train, "micro_batches", out, "graphs", every=3),
        "left_behind": [before, left_behind()],
        "foreign": sorted(REFUSED & set(sys.modules)),
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
