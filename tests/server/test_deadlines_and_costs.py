"""Work stops when its time is over; what a request may cost; who waits in which queue."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from isogloss.index.reader import open_index
from isogloss.search.searcher import Searcher
from isogloss.server.errors import Refusal
from isogloss.server.limits import BATCH, CHEAP, COST, MOST_HITS, QUERY_WORDS, Limits, cost_of
from isogloss.server.models import BatchRequest
from isogloss.server.service import Service
from isogloss.storage.deadline import Deadline, DeadlineError, check

SEARCH = "/api/v1/search"


class Ticking:
    """A clock that moves by a second whenever it is read."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("search", ["search", "search_many"])
def test_a_search_stops_between_two_languages(made_index, search):
    searcher = Searcher(open_index(made_index))
    query = "salt" if search == "search" else ["salt", "sea"]
    with Deadline(1.5, Ticking()), pytest.raises(DeadlineError):  # one check passes, that before the first language
        getattr(searcher, search)(query)
    with Deadline(1000, Ticking()):
        assert getattr(searcher, search)(query)


def test_a_search_stops_between_two_explanations(made_index):
    searcher = Searcher(open_index(made_index))
    assert len(searcher.search("salt")) > 2
    with Deadline(4.5, Ticking()), pytest.raises(DeadlineError):  # two languages and two hits
        searcher.search("salt")


def test_a_batch_stops_between_its_parts(made_index, monkeypatch):
    service = Service(made_index)
    searched = []
    monkeypatch.setattr(
        "isogloss.search.searcher.Searcher.search_many",
        lambda self, queries, *rest: searched.append(len(queries)) or [],
    )
    with Deadline(2.5, Ticking()), pytest.raises((DeadlineError, ValueError)):
        service.search_batch(BatchRequest(queries=["salt"] * 100))
    assert sum(searched) < 100
    service.close()


def test_a_search_that_was_answered_with_a_timeout_leaves_its_thread(serving, monkeypatch):
    let, ended = threading.Event(), threading.Event()
    answer = Service.search

    def endless(self, request):
        if request.q != "wait":
            return answer(self, request)
        try:
            assert let.wait(60)
            check()
        finally:
            ended.set()

    monkeypatch.setattr(Service, "search", endless)
    client = serving(limits=Limits(seconds=0.05, threads=1, in_flight=1))
    assert client.get(SEARCH, params={"q": "wait"}).status_code == 504
    assert client.get("/api/v1/health").json() == {"live": True, "ready": False}, "its only thread is held"
    let.set()
    assert ended.wait(60)
    while client.get("/api/v1/health").status_code != 200:
        pass
    monkeypatch.setattr(Service, "search", answer)
    assert client.get("/api/v1/health").json() == {"live": True, "ready": True}


def test_dear_requests_wait_for_each_other_and_nobody_for_them(serving, monkeypatch):
    begun, let = threading.Semaphore(0), threading.Event()
    answer = Service.search_batch

    def waiting(self, request):
        if len(request.queries) > 2:  # not that which warms the service up
            begun.release()
            assert let.wait(60)
        return answer(self, request)

    monkeypatch.setattr(Service, "search_batch", waiting)
    client = serving(limits=Limits(seconds=60, threads=1, dear_in_flight=1))
    dear = {"queries": ["salt and sea and wind"] * 200, "k": 10}
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(client.post, SEARCH, json=dear)
        assert begun.acquire(timeout=60)
        assert client.post(SEARCH, json=dear).status_code == 503
        assert client.get(SEARCH, params={"q": "salt"}).status_code == 200, "the cheap queue has a thread of its own"
        assert client.get("/api/v1/health").status_code == 200
        let.set()
        assert first.result().status_code == 200


def test_what_a_search_costs_grows_with_words_hits_and_explanations():
    assert cost_of(["salt"], 10) < cost_of(["salt and sea"], 10) < cost_of(["salt and sea"], 100)
    assert cost_of(["salt"], 10) < cost_of(["salt"], 10, explained=10)
    assert cost_of(["salt"] * 5, 10) == 5 * cost_of(["salt"], 10)
    assert cost_of(["why is the sea salty and who has put the salt there"], 20) < CHEAP
    assert cost_of(["a query of a good many words, as one types it or so"] * BATCH, 10) < COST, "a usual batch is taken"
    assert cost_of(["!"], 10) > 0
    with pytest.raises(Refusal, match="words"):
        cost_of(["水と火" * QUERY_WORDS], 10)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"q": "a " * (QUERY_WORDS + 1)}, ("q:", f"at most {QUERY_WORDS}")),
        ({"queries": ["a " * (QUERY_WORDS + 1)]}, ("q:", f"at most {QUERY_WORDS}")),
        ({"queries": ["salt " * 100] * BATCH, "k": MOST_HITS}, ("cost", "smaller k")),
    ],
)
def test_what_costs_too_much_is_refused_at_once(client, body, words):
    answer = client.post(SEARCH, json=body)
    assert answer.status_code == 422
    assert all(word in answer.json()["error"]["message"] for word in words)
    limits = client.get("/api/v1/status").json()["limits"]
    assert (limits["query_words"], limits["cost"]) == (QUERY_WORDS, COST)
