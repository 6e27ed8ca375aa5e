/** One of the stored sessions, or the bundled demo. */
import { useQuery } from "@tanstack/react-query";
import { api, got } from "../api/client";
import { Choose } from "./controls";
import { legible, plural } from "./text";

const DEMO = "demo";

/** `value` is the session's id, and empty for the demo. */
export function SessionChoice({ label, value, onChange }: { label: string; value: string; onChange: (id: string) => void }) {
  const known = useQuery({
    queryKey: ["sessions", "few"],
    queryFn: ({ signal }) => got(api.GET("/api/sessions", { params: { query: { limit: 50 } }, signal })),
  });
  const sessions = (known.data?.sessions ?? []).map((each) => ({
    id: each.id,
    name: legible(each.title) || "Untitled",
    description: plural(each.messages, "message"),
  }));
  return (
    <Choose
      label={label}
      value={value || DEMO}
      choices={[{ id: DEMO, name: "The bundled demo", description: "A long coding session" }, ...sessions]}
      onChange={(id) => onChange(id === DEMO ? "" : id)}
    />
  );
}
