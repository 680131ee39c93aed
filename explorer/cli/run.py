"""The command ``run``: a training program, of which some steps are recorded."""

import subprocess
import tempfile
from pathlib import Path

from explorer.cli import exit_codes
from explorer.cli.options import RunOptions
from explorer.environments.known import named
from explorer.model.errors import UsageError
from explorer.text.language import _
from explorer.workers.environments import program_environment

MODULE = "explorer.recording.scripts"
"""What runs in the program's own process."""


def run(options: RunOptions) -> int:
    """Run a program in an environment, and record steps of it; its exit code is the command's."""
    script = Path(options.script)
    if not script.is_file():
        text = _("{name} is not a file; give the program that trains, such as train.py")
        raise UsageError(text, name=repr(options.script))
    if options.first < 0 or options.every < 0:
        raise UsageError(_("--first and --every take numbers from 0 on"))
    environment = named(options.on)
    numbers = [str(options.first), str(options.every)]
    record = str(options.record.resolve())
    command = [str(environment.python), "-m", MODULE, record, *numbers, str(script)]
    with tempfile.TemporaryDirectory() as scratch:
        surroundings = program_environment(environment, Path(scratch))
        done = subprocess.run([*command, *(options.arguments or [])], env=surroundings, check=False)
    if done.returncode < 0:
        return exit_codes.LOST
    return done.returncode
