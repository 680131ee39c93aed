"""Whether this operating system has what worker processes need."""

import os
import socket


def can_run_workers() -> bool:
    """Whether processes can lead groups, and be handed open files: on Linux and macOS, not on Windows."""
    return hasattr(os, "killpg") and hasattr(os, "fork") and hasattr(socket, "send_fds")
