"""Training programs whose steps are all recorded, run in a process with PyTorch alone.

`python recorded_trainings.py OUT` runs each program with and without explorer.recorder(training=True),
writes the trainings into OUT, and prints what each computed as JSON.
"""

import json
import os
import signal
import sys
from pathlib import Path
from unittest import mock

sys.path.append(str(Path(__file__).parent))

import recorded_steps as steps
import torch
import torch.nn.functional as F  # noqa: N812
from recorded_steps import REFUSED, left_behind, mixed_precision, plain, train
from recording_programs import recorded, warned
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

import explorer


class Job(steps.Job):
    """A net with an average of its weights and a schedule, too."""

    def __init__(self):
        super().__init__()
        self.average = AveragedModel(self.net, multi_avg_fn=get_ema_multi_avg_fn(0.9))
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, 2, 0.5)


def micro_batches(job, x, y):
    losses = []
    for start in range(2):
        loss = F.cross_entropy(job.net(x[start::2]), y[start::2])
        (loss / 2).backward()
        losses.append(loss.detach())
    nn.utils.clip_grad_norm_(job.net.parameters(), 0.1)
    job.optimizer.step()
    return sum(losses)


def overflowing(job, x, y):
    return mixed_precision(job, x, y, factor=torch.inf if x[0, 0] > 1 else None)


def scheduled_and_averaged(job, x, y):
    loss = plain(job, x, y)
    job.schedule.step()
    job.average.update_parameters(job.net)
    return loss


def sgd_in_groups(job, x, y):
    if not isinstance(job.optimizer, torch.optim.SGD):
        weights = [weight for weight in job.net.parameters() if weight.dim() > 1]
        biases = [weight for weight in job.net.parameters() if weight.dim() == 1]
        groups = [{"params": weights, "weight_decay": 0.1}, {"params": biases}]
        job.optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9)
    return plain(job, x, y)


PROGRAMS = {
    "plain": (plain, 50),
    "micro_batches": (micro_batches, 8),
    "mixed_precision": (overflowing, 12),
    "scheduled_and_averaged": (scheduled_and_averaged, 8),
    "sgd_in_groups": (sgd_in_groups, 8),
}


def trained(name, *record):
    return train(PROGRAMS[name], *record, job=Job)


def fails_inside(out):
    """A training during which the recorder itself fails."""
    from explorer.engines.torch.training_recorder import TrainingInTorch

    original = TrainingInTorch._note_update
    calls = []

    def failing(self, optimizer):
        calls.append(optimizer)
        if len(calls) == 3:
            raise ZeroDivisionError("a fault of the recorder's own")
        return original(self, optimizer)

    with mock.patch.object(TrainingInTorch, "_note_update", failing):
        return warned(recorded, trained, "micro_batches", out / "failing")


def raises(out):
    recorder = explorer.recorder(training=True, out=out / "raises.training")
    net = nn.Linear(2, 1)
    try:
        for number in range(3):
            with recorder.step():
                net(torch.ones(1, 2 + (number == 2))).sum().backward()
    except RuntimeError as error:
        return type(error).__name__
    return ""


def killed(out):
    """A process that is killed in its tenth step."""
    process = os.fork()
    if not process:
        recorder = explorer.recorder(training=True, out=out / "killed.training")
        net = nn.Linear(2, 1)
        for number in range(10):
            if number and not os.fork():
                # What a child of it computes is no step of the program.
                with recorder.step():
                    net(torch.ones(1, 2)).sum().backward()
                os._exit(0)
            with recorder.step():
                net(torch.ones(1, 2)).sum().backward()
                if number == 9:
                    os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(process, 0)


def main(out):
    killed(out)
    without = {name: trained(name) for name in PROGRAMS}
    before = left_behind()
    programs = {name: [without[name], recorded(trained, name, out)] for name in PROGRAMS}
    document = {
        "programs": programs,
        "failing": fails_inside(out),
        "with_graphs": recorded(trained, "micro_batches", out, "graphs", first=1, every=4),
        "full": recorded(trained, "micro_batches", out, "full", memory=20_000),
        "raises": raises(out),
        "left_behind": [before, left_behind()],
        "foreign": sorted(REFUSED & set(sys.modules)),
    }
    print(json.dumps(document))
    # This one is written when the program ends.
    recorder = explorer.recorder(training=True, out=out)
    net = nn.Linear(2, 1)
    for _ in range(3):
        with recorder.step():
            net(torch.ones(1, 2)).sum().backward()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
