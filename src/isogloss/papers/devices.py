"""The machine a trial was run on."""

from __future__ import annotations

import platform

from isogloss.text.batches import available_cores


def device_name(device: str) -> str:
    """In words; ``cpu`` or ``cuda``."""
    if device == "cpu":
        cores = available_cores()
        return f"{platform.machine()}, {cores} core{'' if cores == 1 else 's'}"
    import torch

    return str(torch.cuda.get_device_name())
