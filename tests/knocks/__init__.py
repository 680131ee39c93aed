"""Hard knocks: what misbehaves, is killed or has no room ends in a message, and leaves nothing behind."""
