/** A view of the open transcript: files may be dropped on it, and while nothing is open it invites to. */
import { useState, type DragEvent, type ReactNode } from "react";
import { FileTrigger } from "react-aria-components";
import { useOpening, useOpenId, useTranscript, type Inspected, type Source } from "../state/transcript";
import { Button } from "./controls";
import { Icon } from "./icons";
import { Failure, Loading, View } from "./surfaces";
import { legible } from "./text";
import { tellFailure } from "./toasts";
import "./opening.css";

const FORMATS = ["OpenAI Chat Completions", "OpenAI Responses", "Anthropic Messages", "Google Gemini"];

interface DropZoneProps {
  open: (source: Source) => void;
  busy: boolean;
  error: unknown;
  around?: boolean;
  children?: ReactNode;
}

interface TranscriptViewProps {
  title: string;
  about: string;
  /** The model to count for. */
  model?: string;
  onOpen?: () => void;
  children: (transcript: Inspected) => ReactNode;
}

export function TranscriptView({ title, about, model = "", onOpen, children }: TranscriptViewProps) {
  const id = useOpenId();
  const found = useTranscript(model);
  const opening = useOpening();
  const open = (source: Source) => {
    onOpen?.();
    // While nothing is open, the invitation itself says what is wrong.
    opening.mutate(source, id ? { onError: tellFailure } : {});
  };
  if (!id) {
    return (
      <View title={title} about={about}>
        <DropZone open={open} busy={opening.isPending} error={opening.error} />
      </View>
    );
  }
  const another = (
    <FileTrigger onSelect={(files) => files?.[0] && open(files[0])}>
      <Button icon="upload" isPending={opening.isPending}>
        Open another
      </Button>
    </FileTrigger>
  );
  return (
    <View title={title} actions={another}>
      <DropZone open={open} busy={opening.isPending} error={null} around>
        {found.data ? (
          children(found.data)
        ) : found.error ? (
          <Failure error={found.error} retry={() => void found.refetch()} />
        ) : (
          <section className="panel">
            <div className="body">
              <Loading lines={6} label="Reading the transcript" />
            </div>
          </section>
        )}
      </DropZone>
    </View>
  );
}

function DropZone({ open, busy, error, around, children }: DropZoneProps) {
  const [over, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file) open(file);
  };
  const drag = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    setOver(true);
  };
  return (
    <div
      className={around ? "drop-around" : "panel drop"}
      data-over={over || undefined}
      onDragOver={drag}
      onDragLeave={(event) => event.currentTarget.contains(event.relatedTarget as Node | null) || setOver(false)}
      onDrop={drop}
    >
      {children ?? <Invitation open={open} busy={busy} error={error} />}
    </div>
  );
}

function Invitation({ open, busy, error }: Pick<DropZoneProps, "open" | "busy" | "error">) {
  return (
    <div className="empty">
      <span className="mark">
        <Icon name={busy ? "spinner" : "file"} size={24} className={busy ? "spin" : ""} />
      </span>
      <h2>{busy ? "Reading…" : "Drop a transcript here"}</h2>
      <p>
        A list of messages, a whole request, or JSON lines. It is read by the server on this machine, and stays in its memory
        only.
      </p>
      <div className="row wrap centre">
        <FileTrigger onSelect={(files) => files?.[0] && open(files[0])}>
          <Button look="primary" icon="upload" isDisabled={busy}>
            Choose a file
          </Button>
        </FileTrigger>
        <Button icon="play" isDisabled={busy} onPress={() => open("demo")}>
          Open the demo session
        </Button>
      </div>
      {error instanceof Error && (
        <p className="plain bad" role="alert">
          {legible(error.message)}
        </p>
      )}
      <ul className="row wrap centre formats" aria-label="Formats that are recognised">
        {FORMATS.map((each) => (
          <li key={each} className="badge">
            {each}
          </li>
        ))}
      </ul>
    </div>
  );
}
