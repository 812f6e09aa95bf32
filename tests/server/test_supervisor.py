"""Workers that die are replaced, and a replacement that does not start takes nothing from the others."""

import signal
import socket
from types import SimpleNamespace

import pytest

from isogloss.server.app import Settings
from isogloss.server.log import flush
from isogloss.server.running import Supervisor
from isogloss.storage.errors import InputError


class FakeWorker:
    """A worker that lives, answers and dies as a test says."""

    def __init__(self, pid):
        self.pid, self.exitcode, self.ready, self.answers = pid, None, True, True
        self.process = SimpleNamespace(is_alive=lambda: self.exitcode is None, join=lambda seconds=None: None)

    def start(self):
        pass

    join = start

    def is_ready(self, seconds):
        return self.ready and self.answers

    def ping(self, seconds):
        return self.answers

    def kill(self):
        self.exitcode = -9 if self.exitcode is None else self.exitcode

    terminate = kill


class Watched(Supervisor):
    def new_worker(self):
        self.made.append(FakeWorker(1000 + len(self.made)))
        self.made[-1].ready = self.starts
        self.made[-1].exitcode = None if self.starts else 3
        return self.made[-1]


@pytest.fixture
def clock():
    return SimpleNamespace(now=0.0)


@pytest.fixture
def supervisor(tmp_path, clock, capfd):
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    with socket.socket() as listener:
        made = Watched(Settings(tmp_path), listener, 2, str(tmp_path), lambda: clock.now)
        made.made, made.starts = [], True
        yield made
    for number, handler in before.items():
        signal.signal(number, handler)
    flush()


def pids(supervisor):
    return [worker.pid for worker in supervisor.processes]


def test_a_dead_worker_is_replaced_at_once(supervisor):
    supervisor.init_processes()
    supervisor.keep_subprocess_alive()
    assert pids(supervisor) == [1000, 1001]
    supervisor.processes[0].exitcode = -7  # SIGBUS: a file was truncated
    supervisor.keep_subprocess_alive()
    assert pids(supervisor) == [1002, 1001]


def test_a_replacement_that_does_not_start_is_tried_again_ever_more_rarely(supervisor, clock):
    supervisor.init_processes()
    supervisor.keep_subprocess_alive()
    supervisor.starts = False
    supervisor.processes[0].exitcode = -9
    for _ in range(200):
        supervisor.keep_subprocess_alive()
        clock.now += 1.0
        assert supervisor.processes[1].pid == 1001
    assert 5 < len(supervisor.made) < 15
    supervisor.starts = True
    clock.now += 60
    for _ in range(3):
        supervisor.keep_subprocess_alive()
    assert supervisor.processes[0].ready
    assert not supervisor.should_exit.is_set()


def test_where_no_worker_ever_starts_the_service_ends_and_says_so(supervisor):
    supervisor.starts = False
    supervisor.init_processes()
    with pytest.raises(InputError, match="no worker could start"):
        supervisor.keep_subprocess_alive()


def test_a_worker_that_gives_no_sign_of_life_is_killed_and_replaced(supervisor, clock):
    supervisor.init_processes()
    supervisor.keep_subprocess_alive()
    supervisor.processes[1].answers = False
    clock.now = 29
    supervisor.keep_subprocess_alive()
    assert pids(supervisor) == [1000, 1001]
    clock.now = 31
    supervisor.keep_subprocess_alive()
    assert pids(supervisor) == [1000, 1002]
    assert supervisor.made[1].exitcode == -9


def test_a_supervisor_that_stops_replaces_nobody(supervisor):
    supervisor.init_processes()
    supervisor.should_exit.set()
    supervisor.processes[0].exitcode = 0
    supervisor.keep_subprocess_alive()
    assert pids(supervisor) == [1000, 1001]
