"""`compact tokens`: how many tokens a conversation takes."""

from __future__ import annotations

from compact.cli.console import AsJson, File, FormatName, ModelName, busy, console, print_json, read, table

EXAMPLES = "Examples: compact tokens chat.json · compact tokens --model claude-sonnet-4-5 --json - < request.json"


def tokens(file: File, model: ModelName = "gpt-4o", format: FormatName = None, as_json: AsJson = False) -> None:
    """Count a conversation's tokens, by role and by kind of content."""
    from compact.app import count
    from compact.models import find_model

    conversation = read(file, format)
    with busy("counting"):
        counted = count(conversation, model=model)
    facts = find_model(model)
    if as_json:
        print_json(
            {
                "tokens": counted.total,
                "precision": counted.precision,
                "estimated": list(counted.estimated),
                "model": facts.id,
                "encoding": counted.meter.encoding,
                "factor": counted.meter.factor,
                "window": facts.context_window,
                "window_source": facts.source,
                "share": counted.total / facts.context_window,
                "format": conversation.format,
                "messages": len(conversation),
                "by_role": counted.by_role,
                "by_kind": counted.by_kind,
            }
        )
        return
    out = console()
    share = counted.total / facts.context_window
    factor = "" if counted.meter.factor == 1 else f" × {counted.meter.factor:.3f}"
    default = ", assumed" if facts.source == "default" else ""
    out.print(f"[bold]{counted.total:,}[/bold] tokens, {counted.precision} ({counted.meter.encoding}{factor})")
    out.print(f"{share:.1%} of the {facts.context_window:,} of {facts.id}{default}")
    for what in counted.estimated:
        out.print(f"[yellow]estimated:[/yellow] {what}")
    for title, parts in (("role", counted.by_role), ("content", counted.by_kind)):
        rows = table(title, "tokens ", "share ")
        for name, amount in sorted(parts.items(), key=lambda item: -item[1]):
            rows.add_row(name, f"{amount:,}", f"{amount / max(counted.total, 1):.1%}")
        out.print(rows)
