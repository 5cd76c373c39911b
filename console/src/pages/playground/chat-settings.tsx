import { useState } from 'react';

import { useAddress } from '../../components/use-page.ts';
import { chat, clearLanes, readSchema } from '../../playground/chat.ts';
import type { Parameters } from '../../playground/lanes.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import styles from './playground-page.module.css';
import { ToolsDialog } from './tools-dialog.tsx';

const schemaExample = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
};
export const thinkings = [
  { value: '', text: 'as the model does' },
  { value: 'low', text: 'low' },
  { value: 'medium', text: 'medium' },
  { value: 'high', text: 'high' },
] as const;

/** What all lanes share: the system prompt, parameters, tools, and the form of the reply. */
export function ChatSettings({ parameters }: { readonly parameters: Parameters }) {
  const state = chat.use();
  const [, change] = useAddress();
  const [open, setOpen] = useState<'tools' | 'schema'>();
  const set = (name: string) => (value: string) => change({ [name]: value === '' ? undefined : value }, true);
  return (
    <div className={styles['settings']}>
      <div className={styles['system']}>
        <TextField
          label="System prompt"
          lines={2}
          value={state.system}
          placeholder="none"
          onChange={(system) => chat.change((before) => ({ ...before, system }))}
        />
      </div>
      <NumberField label="Temperature" value={parameters.temperature} onChange={set('temp')} />
      <NumberField label="Most tokens" value={parameters.maxTokens} onChange={set('max')} />
      <SelectField label="Thinking" value={parameters.thinking ?? ''} options={thinkings} onChange={set('think')} />
      <div className={styles['settingsButtons']}>
        <Button pressed={state.tools.length > 0} onClick={() => setOpen('tools')}>
          {state.tools.length === 0 ? 'Tools' : `Tools (${state.tools.length})`}
        </Button>
        <Button pressed={readSchema(state.schema) !== undefined} onClick={() => setOpen('schema')}>
          JSON reply
        </Button>
        <Button
          disabledBecause={state.lanes.every(({ entries }) => entries.length === 0) ? 'Nothing was said yet.' : undefined}
          onClick={clearLanes}
        >
          Begin anew
        </Button>
      </div>
      <ToolsDialog open={open === 'tools'} onClose={() => setOpen(undefined)} />
      <SchemaDialog open={open === 'schema'} onClose={() => setOpen(undefined)} />
    </div>
  );
}

/** A number that the address holds. What is being written may not be a number yet. */
function NumberField({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: number | undefined;
  readonly onChange: (text: string) => void;
}) {
  const [text, setText] = useState(value === undefined ? '' : String(value));
  const isWrong = text !== '' && !/^\d+(?:\.\d+)?$/.test(text);
  return (
    <TextField
      label={label}
      inputMode="decimal"
      placeholder="not sent"
      value={text}
      error={isWrong ? 'A number, or nothing.' : undefined}
      onChange={(written) => {
        setText(written);
        if (written === '' || /^\d+(?:\.\d+)?$/.test(written)) onChange(written);
      }}
    />
  );
}

function SchemaDialog({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const { schema } = chat.use();
  const set = (text: string): void => chat.change((before) => ({ ...before, schema: text }));
  const isWrong = schema.trim() !== '' && readSchema(schema) === undefined;
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="The form of the reply"
      size="large"
      actions={
        <>
          {schema.trim() === '' ? (
            <Button onClick={() => set(JSON.stringify(schemaExample, null, 2))}>Use an example</Button>
          ) : (
            <Button onClick={() => set('')}>Any form</Button>
          )}
          <Button kind="main" disabledBecause={isWrong ? 'This is not an object of JSON.' : undefined} onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <TextField
        label="JSON Schema"
        help="Replies have to fit it. Empty: any form. Some vendors want all properties in required, and additionalProperties: false."
        lines={14}
        mono
        value={schema}
        error={isWrong ? 'This is not an object of JSON, so it is not sent.' : undefined}
        onChange={set}
      />
    </Dialog>
  );
}
