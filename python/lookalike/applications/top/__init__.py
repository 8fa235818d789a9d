"""The most similar of every document or set, and a label by them.

options.py  what can be asked
search.py   from what was given to neighbours
result.py   neighbours by user ids: to read, to use, to write
labels.py   the label that most neighbours have
"""

from lookalike.applications.top.options import TopOptions
from lookalike.applications.top.result import TopResult
from lookalike.applications.top.search import top, top_of, top_of_sets

__all__ = ["TopOptions", "TopResult", "top", "top_of", "top_of_sets"]
