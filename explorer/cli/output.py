"""Plain lines and documents on standard output, printed without loading Rich."""

import sys
from pathlib import Path

from explorer.report.json import Document, encode
from explorer.text.language import _
from explorer.text.messages import one_line


def print_document(document: Document) -> None:
    """Print one JSON document and nothing else."""
    sys.stdout.buffer.write(encode(document))  # UTF-8, whatever the terminal's encoding


def print_written(path: Path) -> None:
    """Print that a file was written."""
    print(_("wrote {file}").format(file=one_line(str(path))))
