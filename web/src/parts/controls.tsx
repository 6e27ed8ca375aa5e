/** What is pressed, chosen and typed into. */
import type { ReactNode } from "react";
import {
  Button as AriaButton,
  FieldError,
  Group,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  NumberField,
  Popover,
  Radio,
  RadioGroup,
  Select,
  SelectValue,
  Switch as AriaSwitch,
  Text,
  TextArea,
  TextField,
  Tooltip,
  TooltipTrigger,
  type ButtonProps as AriaButtonProps,
} from "react-aria-components";
import { Icon, type IconName } from "./icons";

export interface ButtonProps extends Omit<AriaButtonProps, "children" | "className"> {
  icon?: IconName;
  look?: "plain" | "primary" | "ghost" | "danger";
  tiny?: boolean;
  children?: ReactNode;
}

export function Button({ icon, look = "plain", tiny, children, ...rest }: ButtonProps) {
  const bare = icon && !children;
  const names = ["button", look, tiny && "tiny", bare && "icon"].filter(Boolean).join(" ");
  return (
    <AriaButton {...rest} className={names}>
      {rest.isPending ? <Icon name="spinner" className="spin" size={14} /> : icon && <Icon name={icon} size={14} />}
      {children}
    </AriaButton>
  );
}

/** A word or two beside what is hovered or focused; `children` must be focusable. */
export function Tip({ text, children }: { text: ReactNode; children: ReactNode }) {
  return (
    <TooltipTrigger delay={250} closeDelay={60}>
      {children}
      <Tooltip className="tip" offset={6}>
        {text}
      </Tooltip>
    </TooltipTrigger>
  );
}

/** A button that is only an icon: its label is its name and its tooltip. */
export function IconButton({ label, ...rest }: { label: string; icon: IconName } & Omit<ButtonProps, "children">) {
  return (
    <Tip text={label}>
      <Button look="ghost" {...rest} aria-label={label} />
    </Tip>
  );
}

interface Labelled {
  label: string;
  hint?: ReactNode;
  fault?: string | undefined;
  unlabelled?: boolean;
}

const about = ({ label, unlabelled }: Labelled) => (unlabelled ? { "aria-label": label } : {});

function Around({ label, hint, fault, unlabelled, children }: Labelled & { children: ReactNode }) {
  return (
    <>
      {!unlabelled && <Label>{label}</Label>}
      {children}
      {fault ? <FieldError className="fault">{fault}</FieldError> : null}
      {hint && !fault ? (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      ) : null}
    </>
  );
}

type TextInputProps = Labelled & {
  value: string;
  onChange: (value: string) => void;
  lines?: boolean;
  placeholder?: string;
  suggestions?: readonly string[] | undefined;
  maxLength?: number;
};

export function TextInput({ value, onChange, lines, placeholder, suggestions, maxLength, ...field }: TextInputProps) {
  const list = suggestions && `list-${field.label.replace(/\W+/g, "-")}`;
  return (
    <TextField className="field" value={value} onChange={onChange} isInvalid={!!field.fault} maxLength={maxLength} {...about(field)}>
      <Around {...field}>
        {lines ? (
          <TextArea className="input" placeholder={placeholder} />
        ) : (
          <Input className="input" placeholder={placeholder} list={list} spellCheck={false} autoComplete="off" />
        )}
      </Around>
      {list && (
        <datalist id={list}>
          {suggestions.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </TextField>
  );
}

type NumberInputProps = Labelled & {
  value: number | null;
  onChange: (value: number | null) => void;
  min?: number | undefined;
  max?: number | undefined;
  step?: number;
  format?: Intl.NumberFormatOptions;
  optional?: boolean;
  placeholder?: string;
};

export function NumberInput({ value, onChange, min, max, step, format, optional, placeholder = "none", ...field }: NumberInputProps) {
  return (
    <NumberField
      className="field"
      value={value ?? NaN}
      onChange={(next) => (Number.isNaN(next) ? optional && onChange(null) : onChange(next))}
      minValue={min}
      maxValue={max}
      step={step}
      formatOptions={format}
      isInvalid={!!field.fault}
      {...about(field)}
    >
      <Around {...field}>
        <Group className="number">
          <Input className="input" placeholder={optional ? placeholder : undefined} />
          <span className="steps">
            <AriaButton slot="decrement">−</AriaButton>
            <AriaButton slot="increment">+</AriaButton>
          </span>
        </Group>
      </Around>
    </NumberField>
  );
}

export interface Choice<T extends string = string> {
  id: T;
  name: string;
  description?: string;
}

type ChooseProps<T extends string> = Labelled & {
  value: T | null;
  choices: readonly Choice<T>[];
  onChange: (value: T) => void;
  placeholder?: string;
  isDisabled?: boolean;
};

/** One of many, from a list that opens. */
export function Choose<T extends string>({ value, choices, onChange, placeholder, isDisabled, ...field }: ChooseProps<T>) {
  return (
    <Select
      className="field"
      isDisabled={isDisabled}
      value={value}
      onChange={(key) => key !== null && onChange(key as T)}
      placeholder={placeholder}
      isInvalid={!!field.fault}
      {...about(field)}
    >
      <Around {...field}>
        <AriaButton className="picker">
          <SelectValue />
          <Icon name="down" size={12} />
        </AriaButton>
      </Around>
      <Popover className="popover" offset={4}>
        <ListBox items={choices}>
          {(each) => (
            <ListBoxItem id={each.id} textValue={each.name} className="option">
              <Text slot="label">{each.name}</Text>
              {each.description && <Text slot="description">{each.description}</Text>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </Select>
  );
}

/** One of few, all in sight. */
export function Segments<T extends string>({ value, choices, onChange, ...field }: Omit<ChooseProps<T>, "placeholder" | "isDisabled">) {
  return (
    <RadioGroup
      className="field"
      orientation="horizontal"
      value={value}
      onChange={(key) => onChange(key as T)}
      isInvalid={!!field.fault}
      {...about(field)}
    >
      <Around {...field}>
        <div>
          <div className="segments">
            {choices.map((each) => (
              <Radio key={each.id} value={each.id}>
                {each.name}
              </Radio>
            ))}
          </div>
        </div>
      </Around>
    </RadioGroup>
  );
}

export function Switch({ label, hint, value, onChange }: Labelled & { value: boolean; onChange: (value: boolean) => void }) {
  return (
    <div className="field">
      <AriaSwitch className="switch" isSelected={value} onChange={onChange}>
        <span className="track" />
        {label}
      </AriaSwitch>
      {hint && <span className="hint">{hint}</span>}
    </div>
  );
}
