#!/usr/bin/env python3
"""Writes prices.npy, months.txt and holdings.{npy,json} from vega-datasets.

    pip install vega_datasets numpy && python3 convert.py

prices.npy is f64[123,4]: one row a month from January 2000 to March 2010, one
column each for MSFT, AMZN, IBM, AAPL in US dollars. GOOG is left out: its
history starts in August 2004. Nothing is scaled, adjusted or filled in.
"""
import csv
import datetime
import json
import pathlib
import numpy as np
import vega_datasets

TICKERS = ["MSFT", "AMZN", "IBM", "AAPL"]
# Shares held of each: the portfolio is the example's own, the prices are not.
SHARES = [300.0, 100.0, 80.0, 60.0]

here = pathlib.Path(__file__).parent
source = pathlib.Path(vega_datasets.__file__).parent / "_data" / "stocks.csv"
table = {}
for row in csv.DictReader(source.open()):
    month = datetime.datetime.strptime(row["date"], "%b %d %Y").strftime("%Y-%m")
    table[month, row["symbol"]] = float(row["price"])
months = sorted({m for m, _ in table})
prices = np.array([[table[m, t] for t in TICKERS] for m in months], dtype="<f8")
assert prices.shape == (123, 4)
np.save(here / "prices.npy", prices)
np.save(here / "holdings.npy", np.array(SHARES, dtype="<f8"))
(here / "holdings.json").write_text(json.dumps(SHARES) + "\n")
(here / "months.txt").write_text("\n".join(months) + "\n")
