"""What the programs share that record some of their steps, or all of them."""

import sys
import warnings


def refuse(names):
    """Packages of the explorer's that a process lacks in which a step is recorded."""

    class Refusing:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in names:
                raise ImportError(f"{name} is not installed beside the framework here")

    sys.meta_path.insert(0, Refusing())


def warned(function, *args, **options):
    """What a function returns, and the kinds of the warnings of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args, **options)
    return result, [warning.category.__name__ for warning in caught]


def recorded(train, name, out, file="", **options):
    """What a program computes whose steps are all recorded."""
    import explorer  # once packages are refused

    recorder = explorer.recorder(training=True, out=out / f"{file or name}.training", **options)
    computed = train(name, lambda _: recorder.step())
    recorder.write()
    return computed
