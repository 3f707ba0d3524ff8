"""Durations in plans."""

from typing import Annotated

from pydantic import AfterValidator

from schedlab.base.duration import seconds


def _duration(text: str) -> str:
    seconds(text)
    return text


def _some_time(text: str) -> str:
    if not seconds(text):
        raise ValueError(f"'{text}' leaves no time for a run")
    return text


Duration = Annotated[str, AfterValidator(_duration)]
SomeTime = Annotated[Duration, AfterValidator(_some_time)]
