"""Exports of compactions for people: what was before, what came of it, and the events; in files or in S3."""

from compact.archive.entries import Entry, Problem, Shelf, export, show, verify
from compact.archive.files import FileArchive
from compact.archive.s3 import S3Archive

__all__ = [
    "Entry",
    "FileArchive",
    "Problem",
    "S3Archive",
    "Shelf",
    "export",
    "open_archive",
    "show",
    "verify",
]


def open_archive(place: str) -> FileArchive | S3Archive:
    """The archive at a folder, or at s3://bucket/prefix."""
    if place.startswith("s3://"):
        bucket, _, prefix = place.removeprefix("s3://").partition("/")
        return S3Archive(bucket, prefix)
    return FileArchive(place)
