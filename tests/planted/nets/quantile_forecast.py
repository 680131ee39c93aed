"""A forecast of three ordered quantiles from a dilated causal convolution, with the pinball loss."""

OUTPUTS = ("loss", "quantiles")
CONSTANTS = ("target",)
SEED = 119
INPUTS = {"series": (3, 2, 8), "target": (3, 1)}


def torch_net():
    class Forecast(nn.Module):
        def __init__(self, channels=4):
            super().__init__()
            self.conv1 = nn.Conv1d(2, channels, 2)
            self.conv2 = nn.Conv1d(channels, channels, 2, dilation=2)
            self.head = nn.Linear(channels, 3)
            self.register_buffer("levels", torch.tensor([[0.1, 0.5, 0.9]]), persistent=False)

        def forward(self, series, target):
            mean = series.mean(2, keepdim=True)
            centred = series - mean
            deviation = torch.sqrt(centred.pow(2).sum(2, keepdim=True) / 7.0)
            x = centred / (deviation + 1e-3)
            x = F.relu(self.conv1(F.pad(x, (1, 0))))
            x = x + F.relu(self.conv2(F.pad(x, (2, 0))))
            raw = self.head(x[:, :, -1])
            steps = torch.cat([raw[:, :1], F.softplus(raw[:, 1:])], dim=1)
            quantiles = torch.cumsum(steps, dim=1)
            error = target - quantiles
            pinball = torch.maximum(self.levels * error, (self.levels - 1.0) * error)
            loss = pinball.sum(1).mean() + 0.01 * self.head.weight.pow(2).sum()
            return loss, quantiles

    return Forecast()
