"""How walks are counted, without a server."""

from benchmarks.walks import Entry, Trace


def trace(*lines: str) -> Trace:
    return Trace([Entry(*line.split()) for line in lines])


def test_a_function_that_is_called_twice_is_two_calls_of_one_function() -> None:
    seen = trace("1 call a.py f", "1 return a.py f", "1 call a.py f", "1 return a.py f")
    assert (len(seen.calls), seen.functions, list(seen.files)) == (2, 1, ["a.py"])


def test_a_call_into_another_file_and_the_return_are_a_change_each() -> None:
    seen = trace("1 call a.py f", "1 call b.py g", "1 return b.py g", "1 return a.py f")
    assert seen.changes == 2


def test_the_next_callback_of_the_loop_is_a_change_only_in_another_file() -> None:
    first = ("1 call a.py f", "1 return a.py f")
    assert trace(*first, "1 call a.py g").changes == 0
    assert trace(*first, "1 call b.py g").changes == 1


def test_going_on_after_an_await_is_no_call_but_may_be_a_change() -> None:
    seen = trace("1 call a.py f", "1 return a.py f", "1 resume b.py g", "1 return b.py g")
    assert (len(seen.calls), seen.changes) == (1, 1)


def test_threads_that_run_in_turns_change_nothing_for_each_other() -> None:
    seen = trace("1 call a.py f", "2 call b.py g", "1 call a.py h", "2 call b.py i")
    assert (len(seen.calls), seen.changes) == (4, 0)


def test_what_was_called_before_the_trace_began_is_left_out() -> None:
    assert trace("1 return b.py g", "1 call a.py f").changes == 0
