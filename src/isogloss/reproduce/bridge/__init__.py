"""The evaluation of ``bridge``: an ablation of its parts, and the calibration of its scores."""
