#!/usr/bin/env python3
"""Trains the 64-32-10 network of digits.kera once and writes weights.npz.

    pip install numpy && python3 train.py

Plain numpy, Adam on softmax cross-entropy, a fixed seed. The committed weights
are the ones that count: another BLAS may train others that differ in the last
bits. A fifth of the images is held out and never trained on; its accuracy is
printed. Files: w1 f32[64,32], b1 f32[32], w2 f32[32,10], b2 f32[10].
"""
import pathlib
import numpy as np

here = pathlib.Path(__file__).parent
x = np.load(here / "images.npy").astype(np.float64)
y = np.load(here / "labels.npy")
rng = np.random.default_rng(20240229)
order = rng.permutation(len(x))
held, train = order[:360], order[360:]

p = {
    "w1": rng.normal(0, np.sqrt(2 / 64), (64, 32)), "b1": np.zeros(32),
    "w2": rng.normal(0, np.sqrt(2 / 32), (32, 10)), "b2": np.zeros(10),
}
m = {k: np.zeros_like(v) for k, v in p.items()}
v = {k: np.zeros_like(w) for k, w in p.items()}


def forward(p, x):
    h = np.maximum(x @ p["w1"] + p["b1"], 0)
    return h, h @ p["w2"] + p["b2"]


step = 0
for epoch in range(120):
    rng.shuffle(train)
    rate = 3e-3 * (1 - epoch / 120)
    for at in range(0, len(train), 32):
        i = train[at:at + 32]
        # A little noise on the pixels keeps so small a network from overfitting.
        xb = x[i] + rng.normal(0, 0.08, (len(i), 64))
        h, z = forward(p, xb)
        e = np.exp(z - z.max(1, keepdims=True))
        d = e / e.sum(1, keepdims=True)
        d[np.arange(len(i)), y[i]] -= 1
        d /= len(i)
        dh = (d @ p["w2"].T) * (h > 0)
        g = {"w2": h.T @ d, "b2": d.sum(0), "w1": xb.T @ dh, "b1": dh.sum(0)}
        step += 1
        for k in p:
            g[k] += 1e-4 * p[k]
            m[k] = 0.9 * m[k] + 0.1 * g[k]
            v[k] = 0.999 * v[k] + 0.001 * g[k] ** 2
            p[k] -= rate * (m[k] / (1 - 0.9 ** step)) / (np.sqrt(v[k] / (1 - 0.999 ** step)) + 1e-8)

w = {k: a.astype("<f4") for k, a in p.items()}
np.savez(here / "weights.npz", **w)
right = forward(w, x.astype("<f4"))[1].argmax(1) == y
print(f"held out {right[held].sum()}/{len(held)} = {right[held].mean():.4f}, "
      f"all {right.sum()}/{len(y)} = {right.mean():.4f}")
