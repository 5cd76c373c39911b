import { useState } from 'react';

import { Dialog } from '../ui/dialog.tsx';
import { CheckField } from '../ui/field.tsx';
import { areLettersOn } from '../ui/use-keys.ts';
import { allEntries } from './entries.ts';
import styles from './key-help.module.css';

const shortcuts: readonly (readonly [keys: string, meaning: string])[] = [
  ['⌘K or Ctrl K', 'Search or go to'],
  ['j, k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close'],
  ['/', 'Filter'],
  ['[ and ]', 'The time before and after'],
  ['t', 'Today'],
  ['z', 'Reporting zone, UTC, zone of the browser'],
  ['e', 'Export'],
  ['v, p', 'Of a call: verify its price, open it in the playground'],
  ['d, w, m', 'Usage by day, week or month'],
  ['1 to 9', 'Of usage: hide a group of the chart, and show it again'],
  ['c', 'Copy the address of the page'],
  ['1 to 6, !', 'On the overview: a figure, and what needs attention'],
  ['?', 'This list'],
];

export function KeyHelp({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const [on, setOn] = useState(areLettersOn);
  return (
    <Dialog open={open} onClose={onClose} title="Keyboard">
      <table className={styles['table']}>
        <tbody>
          {[...shortcuts, ...allEntries.map(({ letter, text }) => [`g ${letter}`, text] as const)].map(([keys, meaning]) => (
            <tr key={keys}>
              <th scope="row">
                <kbd>{keys}</kbd>
              </th>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <CheckField
        label="Single letters are shortcuts"
        help="Turn this off if you speak to your device, or press keys by accident."
        checked={on}
        onChange={(checked) => {
          localStorage.setItem('weir.letters', checked ? 'on' : 'off');
          setOn(checked);
        }}
      />
    </Dialog>
  );
}
