"""Learners of the average model: compiled for CPUs, Triton for GPUs, torch, and a reference in numpy."""
