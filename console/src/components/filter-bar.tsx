import { useState } from 'react';

import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { useKeys } from '../ui/use-keys.ts';
import styles from './filter-bar.module.css';
import { many } from './search-params.ts';
import { useAddress } from './use-page.ts';

export type FilterField = {
  /** The parameter of the address and of the API. */
  readonly name: string;
  readonly text: string;
  /** The values, if they are few and known. */
  readonly values?: readonly string[];
  readonly placeholder?: string;
  /** Whether it may be given more than once, for "or". */
  readonly repeats?: boolean;
  /** The words of a value. A field with them is set by the page alone: the dialog does not offer it. */
  readonly show?: (value: string) => string;
};

/** The filters of a page, which the address holds: one chip for each value. */
export function FilterBar({ fields }: { readonly fields: readonly FilterField[] }) {
  const [search, change] = useAddress();
  const [isAdding, setIsAdding] = useState(false);
  useKeys({ '/': () => setIsAdding(true) });
  const chips = fields.flatMap((field) => many(search, field.name).map((value) => ({ field, value })));
  const remove = (field: FilterField, value: string): void => {
    const left = many(search, field.name).filter((each) => each !== value);
    change({ [field.name]: left.length === 0 ? undefined : left });
  };
  return (
    <div className={styles['bar']} role="group" aria-label="Filters">
      <Button kind="quiet" icon="filter" shortcut="/" onClick={() => setIsAdding(true)}>
        Filter
      </Button>
      {chips.map(({ field, value }) => (
        <button
          key={`${field.name} ${value}`}
          type="button"
          className={styles['chip']}
          aria-label={`Remove the filter ${field.text}: ${field.show?.(value) ?? value}`}
          onClick={() => remove(field, value)}
        >
          {field.text}: <b>{field.show?.(value) ?? value}</b> <Icon name="close" />
        </button>
      ))}
      {chips.length > 1 && (
        <Button kind="quiet" onClick={() => change(Object.fromEntries(fields.map(({ name }) => [name, undefined])))}>
          Remove all
        </Button>
      )}
      <Dialog open={isAdding} onClose={() => setIsAdding(false)} title="Filter">
        {isAdding && <Adder fields={fields.filter(({ show }) => show === undefined)} onClose={() => setIsAdding(false)} />}
      </Dialog>
    </div>
  );
}

function Adder({ fields, onClose }: { readonly fields: readonly FilterField[]; readonly onClose: () => void }) {
  const [search, change] = useAddress();
  const [name, setName] = useState(fields[0]?.name ?? '');
  const field = fields.find((each) => each.name === name);
  const [value, setValue] = useState('');
  const chosen = value === '' ? (field?.values?.[0] ?? '') : value;
  const add = (): void => {
    if (chosen === '' || field === undefined) return;
    const before = field.repeats === true ? many(search, name).filter((each) => each !== chosen) : [];
    change({ [name]: [...before, chosen] });
    onClose();
  };
  return (
    <form
      className={styles['form']}
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <SelectField
        label="Field"
        value={name}
        options={fields.map((each) => ({ value: each.name, text: each.text }))}
        onChange={(next) => {
          setName(next);
          setValue('');
        }}
      />
      {field?.values === undefined ? (
        <TextField
          label="Value"
          value={value}
          onChange={setValue}
          autoFocus
          {...(field?.placeholder === undefined ? {} : { placeholder: field.placeholder })}
        />
      ) : (
        <SelectField label="Value" value={chosen} options={field.values.map((each) => ({ value: each, text: each }))} onChange={setValue} />
      )}
      <Button kind="main" type="submit">
        Add
      </Button>
    </form>
  );
}

/** The part of the address that filters, as parameters of an operation. */
export function readFilters(
  fields: readonly FilterField[],
  search: Readonly<Record<string, string | readonly string[]>>,
): Readonly<Record<string, string | readonly string[]>> {
  return Object.fromEntries(
    fields.flatMap(({ name, repeats }) => {
      const values = many(search, name);
      return values.length === 0 ? [] : [[name, repeats === true ? values : (values[0] ?? '')]];
    }),
  );
}
