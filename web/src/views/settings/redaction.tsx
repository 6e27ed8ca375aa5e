/** What redaction would take out of a text. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { api, got } from "../../api/client";
import { TextInput } from "../../parts/controls";
import { asUnits, Marked, type Span } from "../../parts/highlight";
import { Badge, Failure, Panel, Plain } from "../../parts/surfaces";
import { plural } from "../../parts/text";
import { useDelayed } from "../../state/delayed";

const EXAMPLE = "export OPENAI_API_KEY=sk-proj-4f9d8e7c6b5a4938271605f4e3d2c1b0\nWrite to jane@example.org, please.";

export function Redaction() {
  const [text, setText] = useState(EXAMPLE);
  const [own, setOwn] = useState("");
  const body = useDelayed({ text, patterns: own.split("\n").filter(Boolean) }, 250);
  const found = useQuery({
    queryKey: ["redact", body],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => got(api.POST("/api/redact", { body, signal })),
  });
  return (
    <Panel title="Redaction" actions={found.data && <Badge look={found.data.spans.length ? "warn" : "good"}>{plural(found.data.spans.length, "find")}</Badge>}>
      <div className="stack">
        <p className="soft">Try what is taken out before anything is written to the archive or a trace, and hidden behind placeholders before another vendor's model is asked for a summary. The text is neither kept nor sent anywhere.</p>
        <div className="set-halves">
          <TextInput lines label="Text" value={text} onChange={setText} maxLength={200_000} />
          <TextInput lines label="Patterns of your own" hint="Regular expressions, one a line; in addition to those that are known." value={own} onChange={setOwn} fault={found.error instanceof Error ? found.error.message : undefined} />
        </div>
        {found.error && !own ? <Failure error={found.error} retry={() => void found.refetch()} /> : null}
        {found.data && (
          <div className="set-halves">
            <Side title="Found">
              <Marked
                text={body.text}
                spans={asUnits(body.text, found.data.spans.map((each): Span => [each.start, each.end]))}
                mark={(secret, index) => <mark className="set-secret" title={found.data.spans[index]?.kind}>{secret}<small>{found.data.spans[index]?.kind}</small></mark>}
              />
            </Side>
            <Side title="Redacted"><Plain text={found.data.text} /></Side>
          </div>
        )}
      </div>
    </Panel>
  );
}

function Side({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="stack set-request">
      <h3>{title}</h3>
      <div className="set-code plain" dir="auto" tabIndex={0} role="region" aria-label={title}>{children}</div>
    </div>
  );
}
