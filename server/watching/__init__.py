"""What is noticed of a server at work: counts for Prometheus, spans, and what a request costs.

`requests.py` is told of each request, by the edge and by the rooms behind it. `metrics.py` counts
it, in files that the workers write and `scraped.py` reads, in a process of its own; `traces.py`
makes spans of it. Only these know the libraries, which are loaded where a setting asks for them.
"""
