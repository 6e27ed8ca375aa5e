/** The passes in order: moved by mouse, touch or keyboard, added, duplicated and deleted. */
import { Button as AriaButton, DropIndicator, GridList, GridListItem, useDragAndDrop } from "react-aria-components";
import { Button, IconButton } from "../../parts/controls";
import { Icon } from "../../parts/icons";
import { Badge } from "../../parts/surfaces";
import { badges, duplicate, faultsBelow, moved, newPass, type Pass, type Problem, type Values } from "./model";

interface PassesProps {
  passes: Pass[];
  usual: Values;
  problems: readonly Problem[];
  selected: string;
  select: (key: string) => void;
  onChange: (passes: Pass[]) => void;
}

export function Passes({ passes, usual, problems, selected, select, onChange }: PassesProps) {
  const { dragAndDropHooks } = useDragAndDrop({
    getItems: (keys) => [...keys].map((key) => ({ "text/plain": String(key) })),
    renderDropIndicator: (target) => <DropIndicator target={target} className="drop-line" />,
    onReorder: ({ keys, target }) => onChange(moved(passes, keys, target.key, target.dropPosition === "after")),
  });
  const add = (pass: Pass, at: number) => {
    onChange(passes.toSpliced(at, 0, pass));
    select(pass.key);
  };
  const remove = (key: string) => {
    const left = passes.filter((each) => each.key !== key);
    onChange(left);
    if (key === selected) select(left[0]?.key ?? "");
  };
  return (
    <>
      <GridList
        className="passes"
        aria-label="Passes, in the order they run in"
        items={passes.map((pass, index) => ({ id: pass.key, pass, index }))}
        dependencies={[problems, selected]}
        dragAndDropHooks={dragAndDropHooks}
        selectionMode="single"
        selectionBehavior="replace"
        disallowEmptySelection
        selectedKeys={[selected]}
        onSelectionChange={(keys) => keys !== "all" && select(String([...keys][0] ?? ""))}
        renderEmptyState={() => <p className="quiet none">No passes: only the prelude runs.</p>}
      >
        {({ pass, index }) => (
          <GridListItem className="pass-card" textValue={title(pass)}>
            <AriaButton slot="drag" className="grip" aria-label={`Move ${title(pass)}`}>
              <Icon name="grip" size={14} />
            </AriaButton>
            <span className="ordinal">{index + 1}</span>
            <span className="stack tight grow">
              <span className="strong cut">{title(pass)}</span>
              <Marks pass={pass} wrong={faultsBelow(problems, ["settings", "passes", index]).length} />
            </span>
            <span className="tools">
              <IconButton tiny icon="copy" label={`Duplicate ${title(pass)}`} onPress={() => add(duplicate(passes, pass), index + 1)} />
              <IconButton tiny icon="trash" label={`Delete ${title(pass)}`} onPress={() => remove(pass.key)} />
            </span>
          </GridListItem>
        )}
      </GridList>
      <div className="add">
        <Button icon="plus" onPress={() => add(newPass(passes, usual), passes.length)}>
          Add a pass
        </Button>
      </div>
    </>
  );
}

const title = ({ values }: Pass): string => String(values.name || values.id || "unnamed");

function Marks({ pass, wrong }: { pass: Pass; wrong: number }) {
  const { mode, selection, condition } = badges(pass);
  return (
    <span className="row wrap marks">
      {wrong > 0 && <Badge look="bad">{wrong === 1 ? "1 problem" : `${wrong} problems`}</Badge>}
      <Badge kind={mode === "batch" ? "folded" : "reference"}>{mode}</Badge>
      <Badge>{selection}</Badge>
      <Badge {...(condition === "always" ? {} : { look: "warn" as const })}>{condition}</Badge>
    </span>
  );
}
