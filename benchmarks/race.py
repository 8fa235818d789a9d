"""The race: lookalike and its peers on one corpus, judged, then timed.

    python -m benchmarks.race [--documents N] [--contestants A,B] [--record]

README.md says what is measured and how.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import sys
from dataclasses import asdict, dataclass, replace

from rich.console import Console

from lookalike.applications.planted import PlantOptions

from . import cases, contestants, course, judge, lane, machine, record
from .cases import Case
from .contestants import Job
from .course import Course
from .judge import Score

# A shorter run is repeated and the median told: the shorter it is, the more a busy machine shows in it.
_REPEAT_UNDER_SECONDS = 10.0
_RUNS = 3
_US = "lookalike"


@dataclass(frozen=True, kw_only=True)
class Result:
    """One contestant's race: the times of its runs, the largest peak, and how its answer was judged."""

    contestant: str
    seconds: tuple[float, ...] = ()
    peak_bytes: int = 0
    score: Score | None = None
    objections: tuple[str, ...] = ()

    @property
    def median(self) -> float:
        """The time that counts."""
        return statistics.median(self.seconds)


def main(arguments: list[str] | None = None) -> int:
    """Run the cases; the exit status is 1 if an answer could not stand, 2 if a name is unknown."""
    options = _parser().parse_args(arguments)
    console = record.console()
    known = cases.read()
    names = options.case or list(known)
    if unknown := sorted(set(names) - set(known)):
        console.print(f"no case {', '.join(unknown)}: the cases are {', '.join(known)}", style="red")
        return 2
    stands, command = True, record.command("race", arguments)
    for name in names:
        case = _adapt(known[name], options)
        job = Job(threshold=case.threshold, recall=case.recall_at_least, threads=options.threads)
        stands &= _race(case, job, console, command=command, keep=options.record)
    return 0 if stands else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.race", description="Lookalike and its peers.")
    parser.add_argument("--case", action="append", help="a case of cases.toml (default: all)")
    parser.add_argument("--documents", type=int, help="another number of documents than the case's")
    parser.add_argument("--contestants", help="comma-separated, in the order of the race")
    parser.add_argument("--threads", type=int, default=Job.threads, help="threads, and cores, for each")
    parser.add_argument("--record", action="store_true", help="keep a record, and write RESULTS.md anew")
    return parser


def _adapt(case: Case, options: argparse.Namespace) -> Case:
    """Apply what the command line says; goals of speed hold at the full size only."""
    if options.contestants:
        case = replace(case, contestants=tuple(options.contestants.split(",")))
    if options.documents not in (None, case.documents):
        name = f"{case.name}/{options.documents}"
        case = replace(case, name=name, documents=options.documents, times_faster={})
    return case


def _race(case: Case, job: Job, console: Console, *, command: str, keep: bool) -> bool:
    console.print(f"[bold]{case.name}[/]: planting {case.documents:,} documents, counting the true pairs …")
    planted = PlantOptions(
        documents=case.documents, seed=case.seed, mean_bytes=case.mean_bytes, copies=case.copies
    )
    ground = course.prepare(planted, threshold=case.threshold, words=job.words)
    results = []
    for contestant in case.contestants:
        with console.status(f"{contestant} is running …"):
            results.append(compete(contestant, ground, case, job))
        for objection in results[-1].objections:
            console.print(f"{contestant}: {objection}", style="red")

    packages = dict.fromkeys(contestants.package(contestant) for contestant in case.contestants)
    made = record.Record(
        name="race-" + case.name.replace("/", "-"),
        title=f"Race: {case.name}",
        date=datetime.date.today().isoformat(),
        command=command,
        machine=str(machine.describe((*packages, "numpy", "pyarrow"))),
        columns=_columns(case),
        rows=tuple(_row(result, _ours(results), ground) for result in results),
        notes=(_conditions(case, job, ground), *goals(results, ground, case)),
        details={"case": asdict(case), "job": asdict(job), "results": [asdict(result) for result in results]},
    )
    made.show(console)
    if keep:
        console.print(f"recorded in {record.save(made).name}")
    return not any(result.objections for result in results)


def compete(contestant: str, ground: Course, case: Case, job: Job) -> Result:
    """Run one contestant until its time is known, judging every answer it gives."""
    result = Result(contestant=contestant)
    while not result.seconds or (max(result.seconds) < _REPEAT_UNDER_SECONDS and len(result.seconds) < _RUNS):
        try:
            finish = lane.run(contestant, ground.corpus, job)
        except lane.LaneError as error:
            return replace(result, objections=(str(error),))
        score = judge.judge(finish.answer, ground, threshold=case.threshold, words=job.words)
        result = replace(
            result,
            seconds=(*result.seconds, finish.seconds),
            peak_bytes=max(result.peak_bytes, finish.peak_bytes),
            score=score,
            objections=tuple(judge.objections(contestant, score, case)),
        )
        if result.objections:
            break
    return result


def goals(results: list[Result], ground: Course, case: Case) -> list[str]:
    """Say which goals of the case were reached."""
    by_name = {result.contestant: result for result in results if not result.objections}
    ours = by_name.get(_US)
    if ours is None or not case.times_faster:
        return []
    notes = []
    for peer in case.times_faster.keys() & by_name.keys():
        ratio, goal = by_name[peer].median / ours.median, case.times_faster[peer]
        notes.append(f"{ratio:.1f} times as fast as {peer}: the goal of {goal:g} is {_met(ratio >= goal)}.")
    memory, goal = ours.peak_bytes / ground.text_bytes, case.memory_at_most
    notes.append(f"Peak memory {memory:.2f} times the text: the goal of {goal:g} is {_met(memory <= goal)}.")
    return sorted(notes)


def _met(reached: bool) -> str:
    return "reached" if reached else "missed"


def _ours(results: list[Result]) -> Result | None:
    return next((result for result in results if result.contestant == _US and not result.objections), None)


def _columns(case: Case) -> tuple[str, ...]:
    threshold = case.threshold
    recalls = (f"recall {threshold:g}–{threshold + judge.AT:g}", f"recall ≥ {threshold:g}")
    times = ("seconds", "MB/s", "× lookalike")
    return ("contestant", *times, *recalls, "precision", "in one cluster", "memory / text")


def _row(result: Result, ours: Result | None, ground: Course) -> tuple[str, ...]:
    """Return a line of the table; an answer that does not stand gets no time."""
    score = result.score
    figures: tuple[str, ...] = ("–",) * 4
    if score is not None:
        shares = (score.recall_at, score.recall_above, score.precision, score.clustered)
        figures = tuple(f"{share:.3f}" for share in shares)
    if result.objections:
        return (result.contestant, "refused", "–", "–", *figures, "–")
    return (
        result.contestant,
        f"{result.median:.2f}",
        f"{ground.text_bytes / 1e6 / result.median:,.1f}",
        f"{result.median / ours.median:.1f}" if ours else "–",
        *figures,
        f"{result.peak_bytes / ground.text_bytes:.2f}",
    )


def _conditions(case: Case, job: Job, ground: Course) -> str:
    return (
        f"{case.documents:,} documents, {ground.text_bytes / 1e6:,.0f} MB of text, "
        f"{ground.truth.num_rows:,} true pairs; words:{job.words}, {job.slots} slots, "
        f"threshold {job.threshold:g}, {job.threads} threads."
    )


if __name__ == "__main__":
    sys.exit(main())
