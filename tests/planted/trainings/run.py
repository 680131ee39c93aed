"""Runs plans of one framework in a process of its own, and reads their records.

python -m tests.planted.trainings.run FRAMEWORK < PLANS > TRAININGS
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from explorer.model.engines import Framework
from explorer.model.training import Training
from explorer.store.store import Store
from tests.planted.trainings.plan import Plan, trained
from tests.support.command_line import ROOT, environment
from tests.support.kept import KEPT, key_of_run, texts

MINUTES = 10


def trainings(plans: Mapping[str, Plan]) -> dict[str, Training]:
    """The records of some plans by their names, each of which is run by its framework."""
    records: dict[str, Training] = {}
    for framework in sorted({plan.framework for plan in plans.values()}):
        wanted = {name: plan for name, plan in plans.items() if plan.framework == framework}
        records |= _run(framework, wanted)
    return {name: records[name] for name in plans}


def _run(framework: Framework, plans: Mapping[str, Plan]) -> dict[str, Training]:
    # What was run before in this working copy is not run again.
    store = Store(KEPT)
    key = key_of_run(framework, "trainings", plans, texts(Path(__file__).parent.glob("*.py")))
    known = store.get(key, dict[str, Training])
    if known is None:
        known = _in_own_process(framework, plans)
        store.put(key, known)
    return known


def _in_own_process(framework: Framework, plans: Mapping[str, Plan]) -> dict[str, Training]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.planted.trainings.run", framework],
        input=msgspec.msgpack.encode(plans),
        capture_output=True,
        env=environment(),
        cwd=ROOT,
        timeout=60 * MINUTES,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    return msgspec.msgpack.decode(done.stdout, type=dict[str, Training])


def main() -> None:
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # frameworks print
    plans = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=dict[str, Plan])
    if sys.argv[1] == "torch":
        from tests.planted.trainings.in_torch import prepared
    else:
        from tests.planted.trainings.in_mindspore import prepared
    records = {name: trained(plan, prepared) for name, plan in plans.items()}
    out.write(msgspec.msgpack.encode(records))
    out.close()


if __name__ == "__main__":
    main()
