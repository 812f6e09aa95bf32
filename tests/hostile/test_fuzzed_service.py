"""The service against what schemathesis makes of its own description: no fault, no answer that is not described."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

schemathesis = pytest.importorskip("schemathesis")

from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from isogloss.server.app import Settings, make_app

EXAMPLES = int(os.environ.get("ISOGLOSS_FUZZ", "20"))  # `make soak` makes more
TOKEN = "a-token-of-tests-0123456789"
CHECKS = (
    not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance,
    unsupported_method,
)  # fmt: skip


@pytest.mark.filterwarnings("default")  # of schemathesis itself
def test_every_request_that_fits_the_description_gets_an_answer_that_does(index):
    app = make_app(Settings(index, token=TOKEN, log=False, hosts=None))
    api = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app)
    cases = st.one_of([operation.ok().as_strategy() for operation in api.get_all_operations()])
    statuses = set()

    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(cases)
    def ask(case):
        answer = case.call(headers={"Authorization": f"Bearer {TOKEN}"})
        case.validate_response(answer, checks=CHECKS)
        statuses.add(answer.status_code)

    ask()
    assert 200 in statuses
