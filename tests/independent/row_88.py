"""Row 88: a number that is changed from 2 to 9 once a net was called, by what holds it."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def in_mindspore() -> dict[str, Any]:
    """What the net computes afterwards, and what it saves."""
    import mindspore as ms
    from mindspore import nn

    class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self) -> None:
            super().__init__()
            self.plain = ms.Tensor([2.0])
            self.register_buffer("held", ms.Tensor([2.0]))
            self.frozen = ms.Parameter(ms.Tensor([2.0]), name="frozen", requires_grad=False)

        def construct(self, x: Any) -> Any:
            return x * self.plain, x * self.held, x * self.frozen

    net = Net()
    net(ms.Tensor([1.0]))
    net.plain = ms.Tensor([9.0])
    net.held.assign_value(ms.Tensor([9.0]))
    net.frozen.set_data(ms.Tensor([9.0]))
    tensor, buffer, parameter = (float(part.asnumpy()[0]) for part in net(ms.Tensor([1.0])))
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "net.ckpt")
        ms.save_checkpoint(net, path)
        saved = [name.replace("frozen", "parameter") for name in ms.load_checkpoint(path)]
    return {
        "tensor": tensor,
        "buffer": buffer,
        "parameter": parameter,
        "saved": saved,
        "changed to": 9.0,
    }
