"""Metrics, traces and the cost of requests.

The edge and the packages behind it report each request to `requests.py`. `metrics.py` counts it in
files, which `scraped.py` reads in a process of its own. `traces.py` makes spans of it. Only these
modules import the libraries, and only where a setting turns them on.
"""
