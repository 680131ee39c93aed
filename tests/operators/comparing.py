"""Both sides of many settings, each framework in one process, and whether they agree."""

import hashlib
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from explorer.environments.known import home_of
from explorer.model.engines import Framework
from explorer.store.code import code_behind
from explorer.store.keys import key_in
from tests.operators.answers import Answer, Answered, Asked, Raised
from tests.operators.settings import Array, Setting
from tests.support.command_line import ROOT
from tests.support.kept import kept_run, texts

TOLERANCE, LEAST = 5e-4, 2e-5
"""How far float32 may be from float64: of the greatest number of a result, and at least.

MindSpore's kernels of recurrent cells take fast approximations of tanh; every translated argument
changes more (test_an_argument_that_is_not_translated_is_noticed).
"""

SECONDS = 1800
"""The longest that a process may take on a busy machine."""


def both(mindspore: Asked, torch: Asked) -> tuple[Answered, Answered]:
    """What MindSpore and PyTorch answer, at the same time."""
    with ThreadPoolExecutor() as threads:
        here = threads.submit(run, "in_mindspore", mindspore)
        there = threads.submit(run, "in_torch", torch)
        return here.result(), there.result()


def run(program: str, asked: Asked) -> Answered:
    """What one framework's process answers, or has answered in this working copy."""
    question = pickle.dumps(asked)
    framework: Framework = "mindspore" if program == "in_mindspore" else "torch"
    code = code_behind(f"tests.operators.{program}"), texts(Path(__file__).parent.glob("*.py"))
    key = key_in(home_of(framework), "run", program, code, hashlib.sha256(question).hexdigest())
    folder, _ = kept_run(key, partial(_in_own_process, program, question))
    answered: Answered = pickle.loads((folder / ANSWERED).read_bytes())
    return answered


ANSWERED = "answered"


def _in_own_process(program: str, asked: bytes, folder: Path) -> None:
    question, answer = folder / "asked", folder / ANSWERED
    question.write_bytes(asked)
    variables = {"OMP_NUM_THREADS": "1", "GLOG_v": "4", "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, "-W", "ignore", "-m", f"tests.operators.{program}", question, answer],
        cwd=folder,
        env={**os.environ, **variables},
        timeout=SECONDS,
        check=True,
        capture_output=True,
    )


def disagreements(setting: Setting, here: Answer | Raised, there: Answer | Raised) -> Iterator[str]:
    """What the answers to one setting do not agree on."""
    for framework, answer in (("MindSpore", here), ("PyTorch", there)):
        if isinstance(answer, Raised):
            yield f"{framework} raised {answer.text}"
    if isinstance(here, Answer) and isinstance(there, Answer):
        yield from _in_outputs(setting, here.outputs, there.outputs)
        yield from _in_operands(setting, here, there)
        if set(here.weights) != set(there.weights):
            yield f"weights {sorted(set(here.weights) ^ set(there.weights))} on one side only"
        yield from _by_name("gradient of", here.weights, there.weights)
        yield from _by_name("state of", here.after, there.after)


def _in_outputs(setting: Setting, here: list[Array], there: list[Array]) -> Iterator[str]:
    if len(here) != len(there):
        yield f"{len(here)} results for {len(there)}"
    for place, (ours, theirs) in enumerate(zip(here, there, strict=False)):
        if setting.row.compared == "sets":
            ours, theirs = np.unique(ours.round(4)), np.unique(theirs.round(4))
        if not _is_close(ours, theirs):
            yield f"result {place} differs by {_distance(ours, theirs)}"


def _in_operands(setting: Setting, here: Answer, there: Answer) -> Iterator[str]:
    for operand in setting.row.operands:
        ours_all = here.operands.get(operand.name("mindspore"), [])
        theirs_all = there.operands.get(operand.name("torch"), [])
        for ours, theirs in zip(ours_all, theirs_all, strict=True):
            if not _is_close(ours, theirs):
                name = operand.name("torch")
                yield f"gradient of {name} differs by {_distance(ours, theirs)}"


def _by_name(kind: str, here: dict[str, Array], there: dict[str, Array]) -> Iterator[str]:
    for name in sorted(set(here) & set(there)):
        if not _is_close(here[name], there[name]):
            yield f"{kind} {name} differs by {_distance(here[name], there[name])}"


def _is_close(ours: Array, theirs: Array) -> bool:
    if ours.shape != theirs.shape:
        return False
    reach = float(np.abs(theirs.astype(float)).max(initial=0))
    return bool(np.allclose(ours, theirs, rtol=0, atol=max(LEAST, TOLERANCE * reach)))


def _distance(ours: Array, theirs: Array) -> str:
    if ours.shape != theirs.shape:
        return f"shape {ours.shape} for {theirs.shape}"
    return f"{np.abs(ours.astype(float) - theirs.astype(float)).max():.3g}"
