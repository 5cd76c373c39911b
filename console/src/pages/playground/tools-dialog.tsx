import { useState } from 'react';

import { chat, readSchema } from '../../playground/chat.ts';
import type { JsonObject } from '../../playground/conversation.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import styles from './playground-page.module.css';

const parametersExample: JsonObject = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

/** The functions that the models may call. They are answered by hand, or always by the same text. */
export function ToolsDialog({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const { tools } = chat.use();
  const [isAdding, setIsAdding] = useState(false);
  const remove = (name: string): void => chat.change((state) => ({ ...state, tools: state.tools.filter((tool) => tool.name !== name) }));
  return (
    <Dialog open={open} onClose={onClose} title="Tools" size="large">
      {tools.length === 0 && !isAdding && (
        <p>A model may ask to call a function. You answer in its place, so that you see what it does next.</p>
      )}
      <ul className={styles['tools']}>
        {tools.map(({ name, description, answer }) => (
          <li key={name}>
            <code>{name}</code> <span>{description}</span>
            <small>{answer === '' ? 'answered by hand' : `always answered: ${answer}`}</small>
            <Button kind="quiet" icon="trash" label={`Remove ${name}`} onClick={() => remove(name)} />
          </li>
        ))}
      </ul>
      {isAdding ? (
        <ToolForm onDone={() => setIsAdding(false)} />
      ) : (
        <Button icon="plus" onClick={() => setIsAdding(true)}>
          Function
        </Button>
      )}
    </Dialog>
  );
}

function ToolForm({ onDone }: { readonly onDone: () => void }) {
  const { tools } = chat.use();
  const [name, setName] = useState('get_weather');
  const [description, setDescription] = useState('The weather of a city');
  const [parameters, setParameters] = useState(JSON.stringify(parametersExample, null, 2));
  const [answer, setAnswer] = useState('');
  const schema = readSchema(parameters);
  const nameError = !/^[\w-]{1,64}$/.test(name)
    ? 'Letters, digits, _ and -; at most 64.'
    : tools.some((tool) => tool.name === name)
      ? 'There is a function of this name.'
      : undefined;
  return (
    <form
      className={styles['toolForm']}
      onSubmit={(event) => {
        event.preventDefault();
        if (schema === undefined || nameError !== undefined) return;
        chat.change((state) => ({ ...state, tools: [...state.tools, { name, description, parameters: schema, answer }] }));
        onDone();
      }}
    >
      <TextField label="Name" mono value={name} error={nameError} autoFocus onChange={setName} />
      <TextField label="What it does" value={description} onChange={setDescription} />
      <TextField
        label="Parameters (JSON Schema)"
        lines={8}
        mono
        value={parameters}
        error={schema === undefined ? 'This is not an object of JSON.' : undefined}
        onChange={setParameters}
      />
      <TextField label="Answer" help="It fills the form of answers. Empty: you write each answer." value={answer} onChange={setAnswer} />
      <Button
        kind="main"
        type="submit"
        disabledBecause={schema === undefined || nameError !== undefined ? 'Correct the fields first.' : undefined}
      >
        Add the function
      </Button>
    </form>
  );
}
