"""An error inside ms.grad on the tape is caught. What does the next gradient say, of another function?"""

import mindspore as ms
import numpy as np
from mindspore.common.api import _pynative_executor


def faulty(x):
    raise ValueError("this batch is empty")


def first_element(x):
    return x[0] * x[0]


def gradient_of_first(x):
    try:
        return ms.grad(first_element)(x)
    except TypeError as error:
        return f"TypeError: {str(error).partition('(')[0]}"


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    x = ms.Tensor(np.array([1.0, 2.0], np.float32))
    print("before:", gradient_of_first(x))
    try:
        ms.grad(faulty)(x)
    except ValueError as error:
        print("ms.grad(faulty): ValueError:", error)
    print("after:", gradient_of_first(x))
    _pynative_executor.clear_res()
    print("after clear_res():", gradient_of_first(x))


if __name__ == "__main__":
    main()
