"""The OpenAPI description is valid, names everything, and tells the truth."""

import re

import pytest
from pydantic import BaseModel

from isogloss.server import models
from isogloss.server.app import PREFIX

jsonschema_rs = pytest.importorskip("jsonschema_rs")


@pytest.fixture
def description(client):
    return client.get("/api/v1/openapi.json").json()


def walk(value):
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from walk(inner)


def test_every_route_is_named_and_nothing_else(client, description):
    named = {(path, method.upper()) for path, ways in description["paths"].items() for method in ways}
    routes = {
        (re.sub(r":\w+}", "}", route.path), method)
        for route in client.app.routes
        for method in route.methods - {"HEAD"}
        if route.path.startswith("/api/")
    }
    assert named == routes
    assert len({way["operationId"] for ways in description["paths"].values() for way in ways.values()}) == len(routes)


def test_every_reference_leads_somewhere(description):
    schemas = description["components"]["schemas"]
    references = {node["$ref"] for node in walk(description) if "$ref" in node}
    assert references == {f"#/components/schemas/{name}" for name in schemas}


def test_every_schema_is_one(description):
    for schema in description["components"]["schemas"].values():
        jsonschema_rs.meta.validate(schema)
    for ways in description["paths"].values():
        for way in ways.values():
            for parameter in way.get("parameters", ()):
                jsonschema_rs.meta.validate(parameter["schema"])


def validator(schema, description):
    return jsonschema_rs.validator_for({**schema, "components": description["components"]})


def contents(description):
    for ways in description["paths"].values():
        for way in ways.values():
            for holder in (way.get("requestBody", {}), *way["responses"].values()):
                yield from holder.get("content", {}).values()


def test_everything_has_an_example_that_fits(description):
    for content in contents(description):
        named = [node["$ref"].rpartition("/")[2] for node in walk(content["schema"]) if "$ref" in node]
        examples = [content["example"]] if "example" in content else []
        for name in named if not examples else ():
            examples += description["components"]["schemas"][name]["examples"]
        assert examples
        for example in examples:
            validator(content["schema"], description).validate(example)
    for ways in description["paths"].values():
        for way in ways.values():
            for parameter in way.get("parameters", ()):
                if parameter["in"] == "query":
                    (example,) = parameter["schema"]["examples"]
                    validator(parameter["schema"], description).validate(example)


def test_examples_are_what_the_service_reads_and_writes():
    described = [one for one in vars(models).values() if isinstance(one, type) and BaseModel in one.__mro__[1:]]
    examples = [(one, each) for one in described for each in one.model_json_schema().get("examples", ())]
    assert len(examples) >= 12
    for model, example in examples:
        assert model.model_validate(example).model_dump(mode="json", exclude_unset=True) == example


def test_answers_are_as_described(client, description):
    def fits(answer, path, method="get"):
        content = description["paths"][PREFIX + path][method]["responses"][str(answer.status_code)]["content"]
        validator(content["application/json"]["schema"], description).validate(answer.json())

    fits(client.get("/api/v1/search?q=salt&explain=1"), "/search")
    fits(client.get("/api/v1/search?q="), "/search")
    fits(client.post("/api/v1/search", json={"queries": ["salt", "sea"]}), "/search", "post")
    fits(client.get("/api/v1/explain?q=salt&language=fr&id=f1"), "/explain")
    fits(client.get("/api/v1/documents/fr/f1"), "/documents/{language}/{id}")
    fits(client.get("/api/v1/documents/fr/nothing"), "/documents/{language}/{id}")
    fits(client.delete("/api/v1/documents/fr/f1"), "/documents/{language}/{id}", "delete")
    fits(client.get("/api/v1/status"), "/status")
    fits(client.get("/api/v1/health"), "/health")


def test_operations_that_write_need_the_token(description):
    guarded = {
        way["operationId"] for ways in description["paths"].values() for way in ways.values() if "security" in way
    }
    assert guarded == {"put_documents", "post_documents", "delete_document"}
