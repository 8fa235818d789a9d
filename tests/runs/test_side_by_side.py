"""Several things at once, in their order: an error comes in its turn, and who stops, stops."""

import threading
import time

import pytest

from lookalike.runs.side_by_side import StoppedError, in_turn, still_wanted


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_order_however_long_each_takes(threads):
    gates = [threading.Event() for _ in range(20)]

    def step(number):
        # Each waits for a later one where there is a thread for it.
        if threads > 1 and number % 2 == 0 and number + 1 < len(gates):
            assert gates[number + 1].wait(10)
        gates[number].set()
        return number * number

    assert list(in_turn(range(20), step, threads)) == [number * number for number in range(20)]


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_comes_after_what_was_before_it(threads):
    def step(number):
        if number >= 3:
            raise ValueError(number)
        return number

    results = in_turn(range(100), step, threads)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="3"):
        next(results)
    assert list(results) == []


def test_few_are_begun_ahead_and_none_after_the_end():
    begun = []

    def step(number):
        begun.append(number)
        return number

    results = in_turn(range(1000), step, 2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    results.close()
    count = len(begun)
    assert count <= 3 + 5
    assert len(begun) == count


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_with_nothing_in_reserve_no_more_are_taken_than_there_are_threads(threads):
    taken, given, most = 0, 0, 0

    def things():
        nonlocal taken, most
        for number in range(50):
            taken += 1
            most = max(most, taken - given)
            yield number

    for number in in_turn(things(), lambda number: number, threads, reserve=0):
        assert number == given
        given += 1
    assert (given, most) == (50, threads)


def test_who_need_not_wait_for_steps_at_work_does_not():
    gate, ended = threading.Event(), threading.Event()

    def step(number):
        if number:
            gate.wait(30)
            ended.set()
        return number

    results = in_turn(range(9), step, 2, wait=False)
    assert next(results) == 0
    results.close()
    assert not ended.is_set()
    gate.set()
    assert ended.wait(30)


@pytest.mark.parametrize("threads", [2, 5])
def test_a_long_step_ends_when_nobody_waits_for_it_any_more(threads):
    begun, ended = threading.Event(), []

    def things():
        yield 0
        assert begun.wait(30)
        raise KeyboardInterrupt

    def step(number):
        begun.set()
        try:
            for _ in range(30_000):
                still_wanted()
                time.sleep(0.001)
        except StoppedError:
            ended.append(number)
            raise

    with pytest.raises(KeyboardInterrupt):
        list(in_turn(things(), step, threads))
    assert ended == [0]


def test_steps_that_are_waited_for_are_wanted():
    still_wanted()

    def step(number):
        still_wanted()
        return number

    # Whatever became of earlier steps.
    in_turn(range(9), step, 2).close()
    for threads in (1, 3):
        assert list(in_turn(range(9), step, threads)) == list(range(9))
    still_wanted()
