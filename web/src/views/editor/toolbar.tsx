/** Choosing, keeping, importing, exporting and deleting presets. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { FileTrigger, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { api, got, type Schemas } from "../../api/client";
import { Button, Choose, IconButton } from "../../parts/controls";
import { Window } from "../../parts/surfaces";
import { download } from "../../parts/text";
import { tellFailure, toast } from "../../parts/toasts";
import { RECIPES } from "../../state/recipes";
import { presetOf, type Draft } from "./model";

type KnownPreset = Schemas["KnownPreset"];

interface ToolbarProps {
  presets: readonly KnownPreset[];
  loaded: string;
  load: (name: string) => void;
  draft: Draft | null;
  valid: boolean;
  /** Whether it differs from the preset that was loaded. */
  edited: boolean;
  /** Whether there is anything to save: a preset that is built in becomes one's own. */
  unsaved: boolean;
}

export function Toolbar({ presets, loaded, load, draft, valid, edited, unsaved }: ToolbarProps) {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const [wanted, setWanted] = useState("");
  const renew = () => Promise.all([client.invalidateQueries({ queryKey: ["presets"] }), client.invalidateQueries({ queryKey: RECIPES })]);
  const keeping = useMutation({
    mutationFn: async () => {
      const body = presetOf(draft!);
      return got(api.PUT("/api/presets/{name}", { params: { path: { name: body.name } }, body }));
    },
    onSuccess: async (kept) => {
      await renew();
      load(kept.name);
      toast(`Saved “${kept.name}”. It is in the Inspector, too, and in \`compact presets\`.`);
    },
    onError: tellFailure,
  });
  const importing = useMutation({
    mutationFn: async (file: File) => {
      const form = /\.ya?ml$/i.test(file.name) ? "yaml" : "json";
      return got(api.POST("/api/presets/import", { body: { text: await file.text(), form } }));
    },
    onSuccess: async (taken) => {
      await renew();
      if (taken[0]) load(taken[0].name);
      toast(taken.length ? `Imported ${taken.map((each) => each.name).join(", ")}.` : "There is no preset in it that is not built in.");
    },
    onError: tellFailure,
  });
  const exporting = useMutation({
    mutationFn: async (form: "yaml" | "json") => {
      const body = presetOf(draft!);
      const file = await got(api.POST("/api/presets/export", { params: { query: { form } }, body, parseAs: "blob" }));
      download(file as unknown as Blob, `${body.name || "preset"}.${form}`);
    },
    onError: tellFailure,
  });
  const dropping = useMutation({
    mutationFn: () => got(api.DELETE("/api/presets/{name}", { params: { path: { name: loaded } } })),
    onSuccess: async () => {
      setAsking(false);
      load("balanced");
      await renew();
      toast(`Deleted “${loaded}”.`);
    },
    onError: tellFailure,
  });
  const own = presets.find((each) => each.name === loaded)?.own;
  return (
    <>
      <div className="preset-choice">
        <Choose
          label="Preset"
          unlabelled
          value={loaded}
          choices={presets.map((each) => ({ id: each.name, name: each.own ? `${each.name} (yours)` : each.name, description: each.description ?? "" }))}
          onChange={(name) => (edited && name !== loaded ? setWanted(name) : load(name))}
        />
      </div>
      <FileTrigger acceptedFileTypes={[".json", ".yaml", ".yml"]} onSelect={(files) => files?.[0] && importing.mutate(files[0])}>
        <Button icon="upload" isPending={importing.isPending}>Import</Button>
      </FileTrigger>
      <MenuTrigger>
        <Button icon="download" isDisabled={!draft || !valid}>Export</Button>
        <Popover className="popover" offset={4}>
          <Menu onAction={(key) => exporting.mutate(key as "yaml" | "json")}>
            <MenuItem id="yaml" className="option">As YAML</MenuItem>
            <MenuItem id="json" className="option">As JSON</MenuItem>
          </Menu>
        </Popover>
      </MenuTrigger>
      {own && <IconButton icon="trash" label="Delete this preset" onPress={() => setAsking(true)} />}
      <Button look="primary" icon="check" isPending={keeping.isPending} isDisabled={!draft || !valid || !unsaved} onPress={() => keeping.mutate()}>
        Save
      </Button>
      <Window title={`Discard the changes of “${draft?.name ?? loaded}”?`} open={wanted !== ""} onClose={() => setWanted("")}>
        <p className="soft">They are not saved, and “{wanted}” takes their place.</p>
        <div className="row dialog-actions">
          <Button onPress={() => setWanted("")}>Go on editing</Button>
          <Button
            look="danger"
            onPress={() => {
              load(wanted);
              setWanted("");
            }}
          >
            Discard
          </Button>
        </div>
      </Window>
      <Window title={`Delete “${loaded}”?`} open={asking} onClose={() => setAsking(false)}>
        <p className="soft">It cannot be had back. What was compacted with it stays as it is.</p>
        <div className="row dialog-actions">
          <Button onPress={() => setAsking(false)}>Keep it</Button>
          <Button look="danger" isPending={dropping.isPending} onPress={() => dropping.mutate()}>Delete</Button>
        </div>
      </Window>
    </>
  );
}
