import { type ReactNode, useState } from 'react';

import { Button } from '../ui/button.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField } from '../ui/field.tsx';

type Chosen<Row> = { readonly columns: readonly Column<Row>[]; readonly chooser: ReactNode };

/** The names that this browser keeps for a table; undefined if the person has chosen none. */
function readChosen(name: string): readonly string[] | undefined {
  const text = localStorage.getItem(`weir.columns.${name}`);
  return text === null ? undefined : text.split(' ').filter((each) => each !== '');
}

/**
 * The columns of a table that a person has chosen. Like the density they are of this browser, and in no address.
 * @param all every column, in the order in which they stand
 * @param usual the ids of those that are shown before somebody chooses
 */
export function useColumnChooser<Row>(name: string, all: readonly Column<Row>[], usual: readonly string[]): Chosen<Row> {
  const [chosen, setChosen] = useState(() => readChosen(name));
  const [isOpen, setIsOpen] = useState(false);
  const shown = chosen ?? usual;
  const keep = (ids: readonly string[] | undefined): void => {
    setChosen(ids);
    if (ids === undefined) localStorage.removeItem(`weir.columns.${name}`);
    else localStorage.setItem(`weir.columns.${name}`, ids.join(' '));
  };
  const visible = all.filter(({ id }) => shown.includes(id));
  // A column that somebody has chosen is shown at any width: the table scrolls then.
  const columns = chosen === undefined ? visible : visible.map(({ priority: _priority, ...column }) => column);
  return {
    columns,
    chooser: (
      <>
        <Button onClick={() => setIsOpen(true)}>Columns</Button>
        <Dialog
          open={isOpen}
          onClose={() => setIsOpen(false)}
          title="Columns"
          actions={<Button onClick={() => keep(undefined)}>As at first</Button>}
        >
          {all.map(({ id, title }) => (
            <CheckField
              key={id}
              label={typeof title === 'string' ? title : id}
              checked={shown.includes(id)}
              onChange={(isOn) => keep(isOn ? [...shown, id] : shown.filter((each) => each !== id))}
            />
          ))}
        </Dialog>
      </>
    ),
  };
}
