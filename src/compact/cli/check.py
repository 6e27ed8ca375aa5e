"""`compact check`: what the vendor would reject."""

from __future__ import annotations

import typer

from compact.cli.console import AsJson, File, FormatName, print_json, read, screen, styled
from compact.cli.options import VariantName
from compact.cli.tables import Column, numeric, table_of
from compact.formats import violations
from compact.messages import Violation
from compact.quantities import counted

EXAMPLES = "Examples: compact check request.json · compact check --variant bedrock --json request.json"

_SHOWN = 50


def check(
    file: File,
    variant: VariantName = "",
    format: FormatName = None,
    as_json: AsJson = False,
) -> None:
    """List what the vendor's API would reject, with the rule and the remedy. Leaves with status 1 if there is any."""
    conversation = read(file, format)
    found = violations(conversation, variant)
    if as_json:
        print_json(
            {
                "format": conversation.format,
                "messages": len(conversation),
                "valid": not found,
                "violations": [
                    {"rule": each.rule, "index": each.index, "text": each.text, "remedy": each.remedy} for each in found
                ],
            }
        )
    elif found:
        screen().print(table_of([_row(each) for each in found[:_SHOWN]]))
        if len(found) > _SHOWN:
            screen().print(f"… and {len(found) - _SHOWN:,} more (--json lists all)")
        verdict = styled(counted(len(found), "violation"), "red")
        screen().print(verdict, f"in {counted(len(conversation), 'message')}")
    else:
        screen().print(styled("valid", "green"), f"{conversation.format}, {counted(len(conversation), 'message')}")
    if found:
        raise typer.Exit(1)


def _row(violation: Violation) -> dict[str | Column, str]:
    return {
        numeric("message"): "" if violation.index is None else str(violation.index),
        "rule": violation.rule,
        "what the vendor says": violation.text,
        "remedy": violation.remedy,
    }
