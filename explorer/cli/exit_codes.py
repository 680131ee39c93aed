"""The exit codes of commands; an ExplorerError carries its own."""

AS_EXPECTED = 0

DIFFERENT = 1
"""An unexpected difference: of a case, of two graphs, or of a verdict since a recorded board.

Of a study, that an engine rejects what another one runs.
"""

USAGE_ERROR = 2

LOST = 3
"""A framework is missing, or its worker died or timed out."""

INTERRUPTED = 130
"""After Ctrl-C, as shells have it."""
