"""A gradient of 1e-8 is saved from float16's underflow by a loss scale of 65536, and then unscaled."""

import mindspore as ms
import numpy as np
import torch
from mindspore.amp import StaticLossScaler

SCALED = np.array([1e-8 * 65536], np.float16)


def main():
    scaler = StaticLossScaler(scale_value=65536)
    gradient = ms.Tensor(SCALED)
    print(f"scaled: {SCALED[0]:.3e}")
    print("MindSpore, unscaled in float16:", scaler.unscale([gradient])[0].asnumpy()[0])
    real = scaler.unscale([gradient.astype(ms.float32)])[0]
    print("MindSpore, cast to float32 first:", f"{real.asnumpy()[0]:.2e}")

    weight = torch.nn.Parameter(torch.zeros(1, dtype=torch.float16))
    weight.grad = torch.tensor(SCALED)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    torch_scaler = torch.amp.GradScaler("cpu", init_scale=65536.0)
    torch_scaler.scale(torch.zeros(1))  # the scale is made at its first use
    try:
        torch_scaler.unscale_(optimizer)
    except ValueError as error:
        print("PyTorch: ValueError:", error)


if __name__ == "__main__":
    main()
