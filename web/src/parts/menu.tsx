/** Actions behind one button. */
import { Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { Button } from "./controls";

export interface Action {
  id: string;
  name: string;
  bad?: boolean;
  run: () => void;
}

export function ActionMenu({ label, actions }: { label: string; actions: readonly Action[] }) {
  return (
    <MenuTrigger>
      <Button look="ghost" icon="more" aria-label={label} />
      <Popover className="popover" offset={4} placement="bottom end">
        <Menu onAction={(id) => actions.find((each) => each.id === id)?.run()}>
          {actions.map((each) => (
            <MenuItem key={each.id} id={each.id} className={each.bad ? "option bad" : "option"}>
              {each.name}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
