"""A small job of several stages over one input file, to be killed at any moment.

Each stage rests on those before it; tables come whole, in batches, and as small values. The answer depends on
every row of every stage, and the log says which stages were made by whom.
"""

import os
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from lookalike.runs import Fingerprint, Ledger

ROUNDS = 2
SCHEMA = pa.schema({"row": pa.int64(), "number": pa.uint64()})


def run(home: Path, *, pause: float = 0.0, finish: bool = True, resume: bool = True) -> Ledger:
    """Do the job in `home`: reads home/input, works in home/unfinished, answers in home/answer."""
    with Ledger.open(
        home / "unfinished",
        job="toy",
        parameters={"rounds": ROUNDS},
        inputs=[Fingerprint.of(home / "input")],
        algorithm=1,
        resume=resume,
    ) as ledger:

        def logged(name, make):
            def making():
                with open(home / "log", "a") as log:
                    log.write(f"{os.getpid()} {name}\n")
                return make()

            return making

        def slowly(batches):
            for batch in batches:
                time.sleep(pause)
                yield batch

        def read():
            numbers = np.frombuffer((home / "input").read_bytes(), np.uint64)
            return pa.table({"row": np.arange(len(numbers)), "number": numbers}, SCHEMA)

        def mixed(table, factor):
            for batch in slowly(table.batches()):
                numbers = batch["number"].to_numpy() * np.uint64(factor)
                yield pa.record_batch(
                    [batch["row"], pa.array(numbers ^ (numbers >> np.uint64(29)))], schema=SCHEMA
                )

        table = ledger.step(
            "read", logged("read", lambda: (SCHEMA, slowly(read().to_batches(max_chunksize=100))))
        )
        for turn in range(ROUNDS):
            name = f"factor-{turn}"
            factor = ledger.value(name, logged(name, lambda before=table: int(total(before)) | 1))
            name = f"mix-{turn}"
            table = ledger.step(
                name,
                logged(name, lambda before=table, factor=factor: (SCHEMA, mixed(before, factor))),
                parameters={"turn": turn},
            )
        last = ledger.step("last", logged("last", lambda: pa.Table.from_batches(table.batches(), SCHEMA)))
        answer = b"".join(batch["number"].to_numpy().tobytes() for batch in last.batches())
        if finish:
            (home / "answer").write_bytes(answer + str(total(last)).encode())
            ledger.discard()
        return ledger


def total(table):
    """The sum of a stage's numbers, modulo 2⁶⁴."""
    with np.errstate(over="ignore"):
        return sum((batch["number"].to_numpy().sum() for batch in table.batches()), np.uint64(0))


STAGES = ["read", *(f"{kind}-{turn}" for turn in range(ROUNDS) for kind in ("factor", "mix")), "last"]


def begin(home: Path, rows: int = 500) -> Path:
    """Make a home with an input of `rows` numbers."""
    home.mkdir()
    (home / "input").write_bytes(np.random.default_rng(7).integers(0, 2**64, rows, np.uint64).tobytes())
    return home


def made(home: Path) -> list[str]:
    """The stages that were made, in order, by whichever process."""
    return [line.split()[1] for line in (home / "log").read_text().splitlines()]
