"""One thread or all of them, by what was faster when last tried."""

from isogloss.papers.smooth.learners.cpu import ThreadChoice


def batches_given(choice, batches):
    return sum(number for _, number in choice.chunks(batches))


def test_every_batch_is_given_out_once():
    choice = ThreadChoice(most=4)
    assert [batches_given(choice, batches) for batches in (0, 1, 3, 7, 8, 9, 500)] == [0, 1, 3, 7, 8, 9, 500]


def test_the_faster_number_of_threads_gets_the_rest():
    choice = ThreadChoice(most=2)
    choice.record(1, 4, seconds=1.0)
    choice.record(2, 4, seconds=0.5)
    assert choice.best == 2
    choice.record(2, 4, seconds=9.0)  # a hiccup
    assert choice.best == 2
    choice.record(2, 4, seconds=9.0)  # the machine has become busy
    assert choice.best == 1


def test_both_are_tried_again_now_and_then():
    choice = ThreadChoice(most=2)
    tried = [[threads for threads, _ in choice.chunks(100)] for _ in range(4)]
    assert tried == [[1, 2, 0], [0], [0], [0, 1, 2]]


def test_where_there_is_one_thread_there_is_nothing_to_choose():
    choice = ThreadChoice(most=1)
    assert choice.chunks(10) == [(0, 10)]
    assert choice.best == 1
