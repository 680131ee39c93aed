"""A step of style transfer: instance norm, mirrored borders, Gram matrices and total variation."""

OUTPUTS = ("loss", "styled")
CONSTANTS = ("style",)
TRAIN = True
SEED = 116
INPUTS = {"image": (2, 3, 6, 6), "style": (2, 3, 6, 6)}


def torch_net():
    class Styler(nn.Module):
        def __init__(self, width=4):
            super().__init__()
            self.conv1 = nn.Conv2d(3, width, 3)
            self.down = nn.Conv2d(width, width, 3, stride=2, padding=1)
            self.conv2 = nn.Conv2d(width, 3, 3, padding=1)

        def normalise(self, x):
            mean = x.mean((2, 3), keepdim=True)
            variance = (x - mean).pow(2).mean((2, 3), keepdim=True)
            return (x - mean) / torch.sqrt(variance + 1e-5)

        def gram(self, x):
            b, c, h, w = x.shape
            flat = x.view(b, c, h * w)
            return flat @ flat.transpose(1, 2) / (c * h * w)

        def forward(self, image, style):
            x = F.pad(image, (1, 1, 1, 1), mode="reflect")
            x = F.relu(self.normalise(self.conv1(x)))
            x = self.down(x)
            x = F.interpolate(x, size=(6, 6), mode="nearest")
            styled = torch.tanh(self.conv2(x))
            content = F.mse_loss(styled, image)
            look = (self.gram(styled) - self.gram(style)).pow(2).sum((1, 2)).mean()
            across = (styled[:, :, :, 1:] - styled[:, :, :, :-1]).abs().mean()
            down = (styled[:, :, 1:] - styled[:, :, :-1]).abs().mean()
            loss = content + 20.0 * look + 0.3 * (across + down)
            return loss, styled

    return Styler()
