"""A U-Net whose way up is bilinear, with a weighted cross entropy and a dice loss."""

OUTPUTS = ("loss", "logits")
CONSTANTS = ("mask",)
SEED = 106
INPUTS = {
    "image": (2, 2, 8, 8),
    "mask": "(random.normal(size=(2, 1, 8, 8)) > 0.4).astype(np.float32)",
}


def torch_net():
    class UNet(nn.Module):
        def __init__(self, width=3):
            super().__init__()
            self.left = nn.Conv2d(2, width, 3, padding=1)
            self.norm = nn.GroupNorm(1, width, eps=1e-5)
            self.pool = nn.AvgPool2d(2)
            self.low = nn.Conv2d(width, width, 3, padding=1)
            self.right = nn.Conv2d(2 * width, width, 3, padding=1)
            self.last = nn.Conv2d(width, 1, 1)
            self.register_buffer("weight", torch.tensor([3.0]), persistent=False)

        def forward(self, image, mask):
            skip = F.relu(self.norm(self.left(image)))
            low = F.relu(self.low(self.pool(skip)))
            up = F.interpolate(low, size=(8, 8), mode="bilinear", align_corners=False)
            both = torch.cat([skip, up], dim=1)
            logits = self.last(F.relu(self.right(both)))
            cross = F.binary_cross_entropy_with_logits(logits, mask, pos_weight=self.weight)
            probs = torch.sigmoid(logits)
            overlap = (probs * mask).sum((1, 2, 3))
            total = probs.sum((1, 2, 3)) + mask.sum((1, 2, 3))
            dice = 1.0 - (2.0 * overlap + 1.0) / (total + 1.0)
            loss = cross + 0.5 * dice.mean()
            return loss, logits

    return UNet()
