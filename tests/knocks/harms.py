"""Scenario files that harm the process that runs them, by what they do and where."""

import textwrap
from typing import Literal, NamedTuple

Place = Literal["module", "inputs", "torch_net", "forward"]
"""Where a scenario does it: when it is imported, in inputs(), in torch_net(), in the net itself."""

PLACES: dict[Place, int] = {"module": 0, "inputs": 4, "torch_net": 4, "forward": 8}
"""How far in the statements of each place stand."""


class Harm(NamedTuple):
    """Statements that end or stop the process that runs them, and what is said of it then."""

    code: str
    said: str


HARMS: dict[str, Harm] = {
    "aborts": Harm("import os\nos.abort()", "signal 6"),
    "segfaults": Harm("import ctypes\nctypes.string_at(0)", "signal 11"),
    "exits": Harm("import sys\nsys.exit(4)", "exit code 4"),
    "exits at once": Harm("import os\nos._exit(5)", "exit code 5"),
    "interrupts": Harm("raise KeyboardInterrupt", "process died"),
    "eats memory": Harm(
        "eaten = []\nwhile True:\n    eaten.append(b'x' * 50_000_000)", "exceeded its memory limit"
    ),
    "dies of a closed pipe": Harm(
        "import os, signal\n"
        "signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
        "reader, writer = os.pipe()\nos.close(reader)\nos.write(writer, b'x')",
        "signal 13",
    ),
    "closes all files": Harm("import os\nos.closerange(3, 100)", "the worker"),
    "writes into all files": Harm(
        "import os\n"
        "for number in range(3, 30):\n"
        "    try:\n"
        "        os.set_blocking(number, False)\n"
        "        os.write(number, b'\\x03' + bytes(10))\n"
        "    except OSError:\n"
        "        pass",
        "answer cannot be read",
    ),
    "dies while its child lives": Harm(
        "import os, time\nif os.fork() == 0:\n    time.sleep(600)\nos._exit(6)", "exit code 6"
    ),
}
"""What ends the process that runs it, or has it ended."""

DEAF = """import signal
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
"""
LOOPS = {
    "loops": "while True:\n    pass",
    "loops in C": "pow(7, 10**9)",
    "matches for ever": "import re\nre.match('(a+)+$', 'a' * 64 + 'b')",
    "is deaf to signals": f"{DEAF}import time\nwhile True:\n    time.sleep(1)",
    "prints for ever": "while True:\n    print('x' * 1_000_000)",
}
"""What never ends."""

MISCHIEF = {
    "prints megabytes": (
        "import os, sys\n"
        "for stream in (sys.stdout, sys.stderr):\n"
        "    stream.write('chatter ' * 1_000_000)\n"
        "os.write(1, b'raw ' * 1_000_000)"
    ),
    "removes its working directory": (
        "import os, shutil\nshutil.rmtree(os.environ['TMPDIR'], ignore_errors=True)"
    ),
    "forks": "import os, time\nif os.fork() == 0:\n    time.sleep(600)\n    os._exit(0)",
    "is deaf to signals": DEAF,
    "sets the mask": "import os\nos.umask(0o777)",
    "sets the locale": "import locale\nlocale.setlocale(locale.LC_ALL, 'C')",
    "sets the recursion limit": "import sys\nsys.setrecursionlimit(300)",
}
"""What changes the process that runs it, and hinders no answer."""

TEXT = '''"""A sum of squares."""

import numpy as np

{module}

def inputs():
{inputs}
    return {{"x": np.array([1, 2, 3], np.float32)}}


def torch_net():
{torch_net}

    def net(x):
{forward}
        return (x * x).sum()

    return net
'''


def text(code: str, place: Place) -> str:
    """A scenario that runs ``code`` at a place; the gradient of its net is 2x."""
    codes = {it: code if it == place else "pass" for it in PLACES}
    indented = {it: textwrap.indent(codes[it], " " * depth) for it, depth in PLACES.items()}
    return TEXT.format(**indented)
