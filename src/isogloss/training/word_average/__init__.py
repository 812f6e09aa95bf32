"""Learners of the average model: numpy reference, compiled CPU, CUDA, dense Adam."""
