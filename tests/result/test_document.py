"""A result as one document: what a run has comes back from it."""

from dataclasses import fields

from schedlab.result.document import DocumentRun
from schedlab.result.record import RunRecord


def test_a_document_has_each_field_of_a_run() -> None:
    """But for the raw output's folder, which no document carries."""
    of_a_run = {field.name for field in fields(RunRecord)} - {"key", "raw"}
    assert set(DocumentRun.model_fields) == of_a_run | {"benchmark", "variant", "block"}
