#!/usr/bin/env python3
"""Writes images.npy and labels.npy from the digits that ship with scikit-learn.

    pip install scikit-learn numpy && python3 convert.py

The pixels are counts 0..16; they are divided by 16, which is exact in f32.
"""
import pathlib
import numpy as np
from sklearn.datasets import load_digits

here = pathlib.Path(__file__).parent
data = load_digits()
images = (data.data / 16.0).astype("<f4")
labels = data.target.astype("<i8")
assert images.shape == (1797, 64) and labels.shape == (1797,)
assert (images.astype(np.float64) * 16.0 == data.data).all()
np.save(here / "images.npy", np.ascontiguousarray(images))
np.save(here / "labels.npy", labels)
