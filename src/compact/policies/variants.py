"""The names of deployments whose rules differ from those of the vendor's own API."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from compact.formats import FORMATS


def _known(variant: str) -> str:
    known = sorted({name for format in FORMATS.values() for name in format.variants})
    if variant and variant not in known:
        raise ValueError(f"must be one of {', '.join(known)}, or empty")
    return variant


Variant: TypeAlias = Annotated[str, AfterValidator(_known)]
"""A deployment of some format, or nothing."""
