"""Which test items occur, whole or in part, in training documents.

options.py  what can be asked
sought.py   the test items, ready to be looked for
found.py    what training documents have of them
parts.py    training documents in parts, settled one after the other
search.py   training documents pass by once, a few at a time
naming.py   found by row numbers → by ids
result.py   what was found: for people, for programs, as a folder
"""

from lookalike.applications.decontaminate.options import DecontaminateOptions
from lookalike.applications.decontaminate.result import DecontaminateResult
from lookalike.applications.decontaminate.search import decontaminate, decontaminate_source

__all__ = ["DecontaminateOptions", "DecontaminateResult", "decontaminate", "decontaminate_source"]
