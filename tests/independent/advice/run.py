"""Follows all advice with one party: `python -m tests.independent.advice.run mindspore-graph`.

Prints, by the name of the claim or surprise, "" where the advice works, else what is wrong. PARTIES has
the modules; a function `row_16` follows the advice of claim 16, `surprise_selu` that of selu.py, and one
whose name ends in `_in_graph` or `_on_tape` is for that style alone.
"""

import importlib
import json
import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from tests.independent import mindspore_ir

PARTIES = {
    "mindspore-graph": "mindspore_",
    "mindspore-tape": "mindspore_",
    "torch": "torch_",
}
"""How the names of the modules of each party begin."""

SURPRISES = Path(__file__).parents[3] / "docs" / "surprises"

PROGRAM = re.compile(r"(row_\d+|surprise_\w+?)(_in_graph|_on_tape)?")
OTHER_STYLE = {"mindspore-graph": "_on_tape", "mindspore-tape": "_in_graph"}


def modules(party: str) -> list[str]:
    """The modules of a party, by name."""
    here = Path(__file__).parent
    return sorted(path.stem for path in here.glob(f"{PARTIES[party]}*.py"))


def subject_of(function: str, party: str) -> str:
    """The claim or surprise that a party's function is about; "" where it is about none."""
    found = PROGRAM.fullmatch(function)
    if not found or (found[2] and found[2] == OTHER_STYLE.get(party)):
        return ""
    return found[1]


def follow(party: str) -> dict[str, str]:
    """What became of each piece of advice."""
    answers: dict[str, str] = {}
    prepare(party)
    for name in modules(party):
        module = importlib.import_module(f"{__package__}.{name}")
        for function, program in list(vars(module).items()):  # the compiler adds to it
            subject = subject_of(function, party)
            if subject:
                answers[subject] = answers.get(subject, "") or outcome(party, program)
    return answers


def outcome(party: str, program: Callable[[], None]) -> str:
    """ "" where the program finds what it should, else the error."""
    set_style(party)
    try:
        program()
    except Exception:  # whatever it is, it is the finding
        return traceback.format_exc(limit=-3)
    return ""


def prepare(party: str) -> None:
    """Settings of the process, before a framework is imported."""
    sys.path.insert(0, str(SURPRISES))
    if party == "mindspore-graph":
        mindspore_ir.let_the_compiler_write()
    os.environ.setdefault("GLOG_v", "3")
    if party == "torch":
        import torch

        torch.set_num_threads(1)


def set_style(party: str) -> None:
    """Graph or tape, as the party is; what an error left behind is cleared."""
    if party == "torch":
        return
    import mindspore as ms
    from mindspore.common.api import _pynative_executor

    # A call on MindSpore's tape that raised leaves it recording (2.10.0).
    _pynative_executor.clear_res()
    _pynative_executor.set_grad_flag(False)
    is_graph = party == "mindspore-graph"
    ms.set_context(mode=ms.GRAPH_MODE if is_graph else ms.PYNATIVE_MODE)


if __name__ == "__main__":
    print(json.dumps(follow(sys.argv[1])))
