import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';

import type { Body } from '../../api/client.ts';
import { curlOf } from '../../api/equivalents.ts';
import { question } from '../../api/query-client.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { useChange } from '../../components/use-change.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { say } from '../../ui/toasts.tsx';
import { BookProblems } from './book-problems.tsx';
import { asBook, type PriceBookFile } from './price-words.ts';
import styles from './prices-page.module.css';

type Props = { readonly open: boolean; readonly models: string; readonly onClose: () => void };

/** Makes a draft: of models in force, or of a list. */
export function NewDraftDialog({ open, models, onClose }: Props) {
  return (
    <Dialog open={open} onClose={onClose} title="New draft of prices" size="large">
      {open && <DraftForm models={models} />}
    </Dialog>
  );
}

const ways = [
  { value: 'models', text: 'models as they are in force' },
  { value: 'text', text: 'a file, or text' },
] as const;

/** The entries of some models, as a book to change. */
function bookOf(book: PriceBookFile, names: readonly string[]): PriceBookFile {
  return { ...book, version: 'draft', entries: book.entries.filter(({ vendor, model }) => names.includes(`${vendor}/${model}`)) };
}

function DraftForm({ models }: { readonly models: string }) {
  const navigate = useNavigate();
  const [way, setWay] = useState<'models' | 'text'>('models');
  const [name, setName] = useState('');
  const [note, setNote] = useState('');
  const [chosen, setChosen] = useState(models);
  const [text, setText] = useState('');
  const change = useChange('price_drafts.create', ['price_drafts']);
  const inForce = useQuery({ ...question('prices.export', {}), staleTime: 60_000 });
  const known = inForce.data === undefined ? undefined : asBook(inForce.data.book);
  const listed = [...new Set(known?.entries.map((each) => `${each.vendor}/${each.model}`))];
  const names = chosen.split(/[\s,]+/).filter((each) => each !== '');
  const missing = names.filter((each) => known !== undefined && !listed.includes(each));
  const lacks =
    name === ''
      ? 'A draft needs a name.'
      : way === 'text'
        ? text === ''
          ? 'There is no text yet.'
          : undefined
        : names.length === 0 || missing.length > 0 || known === undefined
          ? 'Name models of the list in force.'
          : undefined;
  const head = { name, ...(note !== '' && { note }) };
  const body: Body<'price_drafts.create'> =
    way === 'text' ? { ...head, text } : { ...head, book: known === undefined ? {} : bookOf(known, names) };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (lacks !== undefined) return;
        void change.run({ body }).then((made) => {
          if (made === undefined) return;
          const left = made.body.not_carried.length;
          if (left > 0) say(`${left} values of the list have no place in a price book`, made.body.not_carried.slice(0, 3).join(' '));
          void navigate({ to: paths.priceDraft(made.body.id), search: { step: '1' } });
        });
      }}
    >
      <TextField label="Name" value={name} required autoFocus onChange={setName} />
      <TextField label="Note" value={note} onChange={setNote} />
      <Beginning {...{ way, chosen, text, listed, missing }} onWay={setWay} onChosen={setChosen} onText={setText} />
      {change.problem !== undefined && <BookProblems problem={change.problem} text={way === 'text' ? text : ''} />}
      <div>
        <Button kind="main" type="submit" busy={change.busy} disabledBecause={lacks}>
          Make the draft
        </Button>
      </div>
      <Equivalent
        command="weir prices check prices.json"
        curl={curlOf(location.origin, 'price_drafts.create', { body: { ...head, ...(way === 'text' ? { text: '…' } : { book: {} }) } })}
      />
    </form>
  );
}

type BeginningProps = {
  readonly way: 'models' | 'text';
  readonly chosen: string;
  readonly text: string;
  readonly listed: readonly string[];
  readonly missing: readonly string[];
  readonly onWay: (way: 'models' | 'text') => void;
  readonly onChosen: (models: string) => void;
  readonly onText: (text: string) => void;
};

/** What the draft begins with. */
function Beginning({ way, chosen, text, listed, missing, onWay, onChosen, onText }: BeginningProps) {
  const choice = <SelectField label="Begins with" value={way} options={ways} onChange={onWay} />;
  if (way === 'models')
    return (
      <>
        {choice}
        <TextField
          label="Models"
          value={chosen}
          list={listed}
          help="Vendor and name, with commas between several: openai/gpt-5-mini, anthropic/claude-sonnet-4-5."
          error={missing.length === 0 ? undefined : `Not in force: ${missing.join(', ')}.`}
          onChange={onChosen}
        />
      </>
    );
  return (
    <>
      {choice}
      <FilePicker onText={onText} />
      <TextField
        label="Prices"
        help="A price book in JSON or YAML, or a list of LiteLLM, genai-prices or new-api, which is recognised."
        value={text}
        lines={10}
        mono
        onChange={onText}
      />
    </>
  );
}

const fileBytesMax = 8 * 1024 * 1024;

function FilePicker({ onText }: { readonly onText: (text: string) => void }) {
  const id = useId();
  const [error, setError] = useState<string>();
  return (
    <div className={styles['file']}>
      <label htmlFor={id}>File</label>
      <input
        id={id}
        type="file"
        accept=".json,.yaml,.yml,application/json,text/yaml"
        onChange={(event) => {
          const file = event.target.files?.[0];
          if (file === undefined) return;
          if (file.size > fileBytesMax) return setError('The file has more than 8 MiB.');
          setError(undefined);
          file.text().then(onText, () => setError('The file cannot be read.'));
        }}
      />
      {error !== undefined && <p role="alert">{error}</p>}
    </div>
  );
}
