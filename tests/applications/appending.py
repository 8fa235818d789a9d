"""Who is kept for whom when new sets come to old ones, by walking in plain Python."""

from tests.conformance import oracle


def assigned(new, old, threshold, *, group="components", priority=None):
    """For every new row the row it hangs on: itself, another new one, or len(new) + an old one.

    Old rows stay what they are. A new one takes the most similar old one at or over the threshold, the first
    of equals. With components, rows near to those that are taken are taken with them, by the most similar
    neighbour, ring by ring. What is left is grouped by itself; the row of least priority is kept.
    """
    rows = [*new, *old]
    priority = range(len(new)) if priority is None else priority

    def like(a, b):
        return oracle.jaccard(rows[a], rows[b])

    taken = {row: row for row in range(len(new), len(rows))}
    ring = list(taken)
    while ring:
        found = {}
        for row in range(len(new)):
            near = [(-like(row, other), other) for other in ring if like(row, other) >= threshold]
            if row not in taken and near:
                found[row] = taken[min(near)[1]]
        taken |= found
        ring = list(found) if group == "components" else []
    free = sorted((row for row in range(len(new)) if row not in taken), key=lambda row: priority[row])
    for row in free:
        if row in taken:
            continue
        taken[row] = row
        reached = [row]
        while reached:
            here = reached.pop()
            for other in free:
                if other not in taken and like(here, other) >= threshold:
                    taken[other] = row
                    reached += [other] if group == "components" else []
    return [taken[row] for row in range(len(new))]
