"""A worker that is killed by a file that was cut under it is replaced; until that succeeds there is an answer."""

import json

from tests.hostile.running import Running

SEARCH = "/api/v1/search?q=salt"


def test_a_file_that_is_cut_while_it_is_served_ends_no_service(index):
    running = Running(index)
    try:
        assert running.get(SEARCH).status == 200
        cut = {path: path.read_bytes() for path in (index / "segments").rglob("arrays.bin")}
        for path in cut:
            with open(path, "r+b") as file:
                file.truncate(0)
        while (answer := running.get(SEARCH)).status in (0, 200):
            assert running.process.poll() is None
        assert answer.status == 503
        assert json.loads(answer.body)["error"]["code"] in ("unavailable", "damaged")
        health = running.get("/api/v1/health")
        assert (health.status, json.loads(health.body)) == (503, {"live": True, "ready": False})
        for path, content in cut.items():
            path.write_bytes(content)
        while running.get(SEARCH).status != 200:
            assert running.process.poll() is None
    finally:
        assert running.stop() == 0
