"""The autodiff semantics explorer: one net, two frameworks, two styles of gradient, one record of
each.
"""

__version__ = "0.1.0"
