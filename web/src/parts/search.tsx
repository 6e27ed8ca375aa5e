/** A field to search with; Escape empties it. */
import { Button as AriaButton, Input, SearchField } from "react-aria-components";
import { Icon } from "./icons";
import "./search.css";

export function SearchInput({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  return (
    <SearchField className="search" aria-label={label} value={value} onChange={onChange} maxLength={1_000}>
      <Icon name="search" size={14} />
      <Input className="input" placeholder={label} spellCheck={false} autoComplete="off" />
      {value && (
        <AriaButton className="search-clear" aria-label="Clear">
          <Icon name="cross" size={12} />
        </AriaButton>
      )}
    </SearchField>
  );
}
