"""The commands that ask nothing of a net: ``doctor`` and ``app``."""

import importlib.util
import os
import sys
from pathlib import Path
from typing import NoReturn

from explorer.model.errors import MissingFrameworkError

APP = Path(__file__).resolve().parent.parent.parent / "app.py"


def doctor(as_json: bool) -> int:
    """Print what there is and what is missing; 3 when a framework is."""
    from explorer.cli.asking import console, progress
    from explorer.exploration import doctor as examination
    from explorer.report import json
    from explorer.workers.workers import Workers

    with Workers() as workers, progress() as step:
        checks = examination.examine(workers, step)
    if as_json:
        sys.stdout.buffer.write(json.encode(examination.document(checks)))
    else:
        examination.show(checks, console())
    return 3 if any(check.required and not check.fine for check in checks) else 0


def app(options: list[str]) -> NoReturn:
    """Become ``streamlit run app.py``: Ctrl-C and the exit code are Streamlit's own."""
    if importlib.util.find_spec("streamlit") is None:
        from explorer.exploration.doctor import remedy

        raise MissingFrameworkError(
            f"the app needs streamlit, which is not installed: {remedy('streamlit')}"
        )
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", str(APP), *options])
