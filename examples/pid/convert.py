#!/usr/bin/env python3
"""Writes setpoint.npy, f64[600]: what the control loop of pid.kera must follow.

    pip install numpy && python3 convert.py

Steps, a ramp and a rest, every value a multiple of 1/64 and so exact in f64.
"""
import pathlib
import numpy as np

here = pathlib.Path(__file__).parent
series = np.concatenate([
    np.zeros(50), np.full(150, 1.0), np.full(100, -0.5),
    np.arange(128) / 64.0 - 0.5, np.full(122, 1.5), np.zeros(50),
]).astype("<f8")
assert series.shape == (600,)
np.save(here / "setpoint.npy", series)
