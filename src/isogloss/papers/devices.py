"""The machine a trial was run on."""

from __future__ import annotations

import platform

from isogloss.text.batches import available_cores


def device_name(device: str) -> str:
    """In words; ``cpu`` or ``cuda``."""
    if device == "cpu":
        return f"{platform.machine()}, {available_cores()} cores"
    import torch

    return str(torch.cuda.get_device_name())
