import { useEffect, useId, useRef, useState, type ReactNode } from 'react';

import styles from './field.module.css';

type Shared = {
  readonly label: string;
  readonly help?: ReactNode;
  /** The server's sentence about this field. */
  readonly error?: string | undefined;
};

type TextProps = Shared & {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: 'text' | 'password' | 'date' | 'datetime-local' | 'email' | 'search';
  readonly name?: string;
  readonly autoComplete?: string;
  readonly placeholder?: string;
  readonly inputMode?: 'decimal' | 'numeric' | 'text';
  readonly mono?: boolean;
  readonly required?: boolean;
  readonly autoFocus?: boolean;
  readonly lines?: number;
  readonly list?: readonly string[];
  /** Whether the focus selects the text, so that typing replaces it. */
  readonly selects?: boolean;
};

/** A label, a control, a sentence of help, and the sentence of an error, tied to each other. */
function Frame({ id, label, help, error, children }: Shared & { readonly id: string; readonly children: ReactNode }) {
  return (
    <div className={styles['field']}>
      <label className={styles['label']} htmlFor={id}>
        {label}
      </label>
      {children}
      {help !== undefined && (
        <p id={`${id}-help`} className={styles['help']}>
          {help}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className={styles['error']}>
          {error}
        </p>
      )}
    </div>
  );
}

const describedBy = (id: string, { help, error }: Pick<Shared, 'help' | 'error'>): string | undefined => {
  const ids = [...(help === undefined ? [] : [`${id}-help`]), ...(error === undefined ? [] : [`${id}-error`])];
  return ids.length === 0 ? undefined : ids.join(' ');
};

/** One line of text, or several. */
export function TextField({
  label,
  help,
  error,
  value,
  onChange,
  mono = false,
  lines,
  list,
  autoFocus,
  selects = false,
  ...rest
}: TextProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // Once: what is written elsewhere later keeps the focus.
    if (autoFocus === true) input.current?.focus();
  }, [autoFocus]);
  const shared = {
    id,
    value,
    className: styles['control'],
    'data-mono': mono,
    'aria-invalid': error !== undefined || undefined,
    'aria-describedby': describedBy(id, { help, error }),
    ...rest,
  };
  return (
    <Frame {...{ id, label, help, error }}>
      {lines === undefined ? (
        <input
          {...shared}
          ref={input}
          list={list === undefined ? undefined : `${id}-list`}
          onFocus={(event) => selects && event.target.select()}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <textarea {...shared} rows={lines} spellCheck={false} onChange={(event) => onChange(event.target.value)} />
      )}
      {list !== undefined && (
        <datalist id={`${id}-list`}>
          {list.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </Frame>
  );
}

type SelectProps<Value extends string> = Shared & {
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly text: string }[];
  readonly onChange: (value: Value) => void;
};

/** A choice of few. The browser's own control, which every device knows to show. */
export function SelectField<Value extends string>({ label, help, error, value, options, onChange }: SelectProps<Value>) {
  const id = useId();
  return (
    <Frame {...{ id, label, help, error }}>
      <select
        id={id}
        className={styles['control']}
        value={value}
        aria-describedby={describedBy(id, { help, error })}
        onChange={(event) => onChange(event.target.value as Value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </Frame>
  );
}

type ChoiceProps<Value extends string> = Shared & {
  readonly value: Value;
  /** The words of the value: it may not be among those that are offered. */
  readonly text: string;
  /** Whether these are all. Of very many, those that fit what was typed are offered. */
  readonly isWhole: boolean;
  readonly offered: readonly { readonly value: Value; readonly text: string }[];
  readonly onType: (text: string) => void;
  readonly onChange: (value: Value) => void;
  /** In a bar: the label is only for readers. */
  readonly inline?: boolean;
};

/** A choice of few or of very many: a list where all of it can be shown, else a field to search in. */
export function ChoiceField<Value extends string>({
  value,
  text,
  isWhole,
  offered,
  onType,
  onChange,
  inline,
  ...shared
}: ChoiceProps<Value>) {
  if (!isWhole) return <SearchedChoice {...{ value, text, isWhole, offered, onType, onChange, ...shared }} />;
  // One that was chosen elsewhere stands in the list as well.
  const options = offered.some((each) => each.value === value) ? offered : [{ value, text }, ...offered];
  return inline === true ? (
    <InlineSelect {...{ value, options, onChange, ...shared }} />
  ) : (
    <SelectField {...{ value, options, onChange, ...shared }} />
  );
}

function SearchedChoice<Value extends string>({ label, value, text, offered, onType, onChange }: ChoiceProps<Value>) {
  const [typed, setTyped] = useState<{ readonly text: string; readonly before: Value }>();
  // What was typed for another value is over.
  const shown = typed?.before === value ? typed.text : text;
  const found = offered.find((each) => each.text === shown)?.value;
  useEffect(() => {
    if (found !== undefined && found !== value) onChange(found);
  });
  return (
    <TextField
      label={label}
      type="search"
      value={shown}
      selects
      list={offered.map((each) => each.text)}
      help={shown === text ? undefined : <>Choose one of those that are found. Until then it is {text}.</>}
      onChange={(next) => {
        setTyped({ text: next, before: value });
        onType(next);
      }}
    />
  );
}

type CheckProps = {
  readonly label: string;
  readonly help?: ReactNode;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
};

export function CheckField({ label, help, checked, onChange }: CheckProps) {
  const id = useId();
  return (
    <div className={styles['check']}>
      <input
        id={id}
        type="checkbox"
        checked={checked}
        aria-describedby={describedBy(id, { help, error: undefined })}
        onChange={(event) => onChange(event.target.checked)}
      />
      <label htmlFor={id}>{label}</label>
      {help !== undefined && (
        <p id={`${id}-help`} className={styles['help']}>
          {help}
        </p>
      )}
    </div>
  );
}

/** A control in a bar: its label is only for readers. */
export function InlineSelect<Value extends string>({ label, value, options, onChange }: SelectProps<Value>) {
  return (
    <select className={styles['inline']} aria-label={label} value={value} onChange={(event) => onChange(event.target.value as Value)}>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.text}
        </option>
      ))}
    </select>
  );
}
