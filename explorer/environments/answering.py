"""What a Python is, printed as one line of JSON: run as a program by the Python that is asked.

Any Python 3 must be able to run it, so it imports nothing of the explorer.
"""

import json
import os
import platform
import sys
from importlib.machinery import EXTENSION_SUFFIXES

HERE = os.path.dirname(os.path.abspath(__file__))
"""The folder of this program, which Python puts in front of those that it looks for modules in."""


def main() -> None:
    """Print the line, behind whatever the start of Python prints."""
    paths = [path for path in sys.path if path and path != HERE and os.path.exists(path)]
    answer = {
        "version": platform.python_version(),
        "suffix": EXTENSION_SUFFIXES[0],
        "paths": paths,
        "prefix": sys.prefix,
    }
    print("explorer:" + json.dumps(answer))


if __name__ == "__main__":
    main()
