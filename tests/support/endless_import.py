"""A module that is never imported to its end."""

import time

time.sleep(600)
