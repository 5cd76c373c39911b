import { useNavigate } from '@tanstack/react-router';
import { useEffect, useId, useRef, useState } from 'react';

import { type ApiProblem, toProblem } from '../../api/problem.ts';
import { forget } from '../../api/query-client.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { showCount } from '../../format/numbers.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { commandOf, type Vendor, vendors } from './comparison-words.ts';
import { guessVendor } from './month-days.ts';
import { type ExportFields, sendExport } from './send-export.ts';
import styles from './reconciliation-page.module.css';

type Props = { readonly open: boolean; readonly dropped: File | undefined; readonly onClose: () => void };

/** Takes an export, and begins its comparison. */
export function CompareDialog({ open, dropped, onClose }: Props) {
  return (
    <Dialog open={open} onClose={onClose} title="Compare a vendor's export" size="large">
      {open && <CompareForm dropped={dropped} />}
    </Dialog>
  );
}

const bytesMax = 64 * 1024 * 1024;
const headBytes = 64 * 1024;

type Sending = { readonly sent: number; readonly all: number };

/** Sends an export, and can stop that. */
function useSending() {
  const navigate = useNavigate();
  const [sending, setSending] = useState<Sending>();
  const [problem, setProblem] = useState<ApiProblem>();
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const send = async (fields: ExportFields, file: File): Promise<void> => {
    stop.current = new AbortController();
    setProblem(undefined);
    setSending({ sent: 0, all: file.size });
    try {
      const { input } = await sendExport(fields, file, (sent, all) => setSending({ sent, all }), stop.current.signal);
      await forget('reconciliations');
      void navigate({ to: paths.reconciliation((input as { readonly reconciliation_id: string }).reconciliation_id) });
    } catch (error) {
      if (!stop.current.signal.aborted) setProblem(toProblem(error));
    } finally {
      setSending(undefined);
    }
  };
  return { sending, problem, send, cancel: () => stop.current.abort() };
}

type Draft = {
  readonly vendor: Vendor;
  readonly upstream: string;
  readonly from: string;
  readonly to: string;
  readonly tolerance: string;
  readonly prices: string;
};
const empty: Draft = { vendor: 'openai', upstream: '', from: '', to: '', tolerance: '0', prices: 'in_force' };

function fieldsOf({ vendor, upstream, from, to, tolerance, prices }: Draft): ExportFields {
  return {
    vendor,
    tolerance,
    ...(upstream !== '' && { upstream }),
    ...(from !== '' && { from }),
    ...(to !== '' && { to }),
    ...(prices !== 'in_force' && { prices }),
  };
}

function CompareForm({ dropped }: { readonly dropped: File | undefined }) {
  const [file, setFile] = useState<File>();
  const [draft, setDraft] = useState(empty);
  const { sending, problem, send, cancel } = useSending();
  const set = (name: keyof Draft) => (value: string) => setDraft((before) => ({ ...before, [name]: value }));
  const choose = async (chosen: File | undefined): Promise<void> => {
    setFile(chosen);
    if (chosen === undefined) return;
    const vendor = guessVendor(await chosen.slice(0, headBytes).text());
    if (vendor !== undefined) setDraft((before) => ({ ...before, vendor }));
  };
  useEffect(() => void choose(dropped), [dropped]);
  const errors = problem?.fieldErrors() ?? {};
  const lacks =
    file === undefined ? 'Choose a file.' : file.size > bytesMax ? 'The file has more than 64 MiB: narrow the export.' : undefined;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (file !== undefined && lacks === undefined) void send(fieldsOf(draft), file);
      }}
    >
      <FilePlace file={file} onFile={(chosen) => void choose(chosen)} />
      <Fields draft={draft} errors={errors} set={set} />
      {problem !== undefined && <Failure error={problem} />}
      <Sender sending={sending} lacks={lacks} onCancel={cancel} />
      <Equivalent
        command={commandOf({
          ...draft,
          file: { name: file?.name ?? 'usage.json', bytes: 0, sha256: '' },
          upstream: draft.upstream || null,
        })}
        curl={curlLine(draft, file?.name ?? 'usage.json')}
      />
    </form>
  );
}

type FieldsProps = {
  readonly draft: Draft;
  readonly errors: Readonly<Record<string, string>>;
  readonly set: (name: keyof Draft) => (value: string) => void;
};

function Fields({ draft, errors, set }: FieldsProps) {
  return (
    <>
      <SelectField
        label="Vendor"
        help="Recognised from the file, if it has a known form."
        value={draft.vendor}
        error={errors['vendor']}
        options={vendors.map((value) => ({ value, text: value }))}
        onChange={set('vendor')}
      />
      <div className={styles['pair']}>
        <TextField
          label="Upstream"
          help="If the export is of one of several accounts."
          value={draft.upstream}
          error={errors['upstream']}
          onChange={set('upstream')}
        />
        <TextField
          label="Tolerance, %"
          help="Of the greater count."
          inputMode="decimal"
          value={draft.tolerance}
          error={errors['tolerance']}
          onChange={set('tolerance')}
        />
        <TextField
          label="From"
          type="date"
          help="All of the export, if empty."
          value={draft.from}
          error={errors['from']}
          onChange={set('from')}
        />
        <TextField label="To (not included)" type="date" value={draft.to} error={errors['to']} onChange={set('to')} />
        <TextField
          label="List prices for costs"
          help="in_force, shipped, the number of a book, or a price version."
          value={draft.prices}
          error={errors['prices']}
          onChange={set('prices')}
        />
      </div>
    </>
  );
}

type SenderProps = { readonly sending: Sending | undefined; readonly lacks: string | undefined; readonly onCancel: () => void };

function Sender({ sending, lacks, onCancel }: SenderProps) {
  if (sending === undefined)
    return (
      <div>
        <Button kind="main" type="submit" disabledBecause={lacks}>
          Compare
        </Button>
      </div>
    );
  const { sent, all } = sending;
  return (
    <div className={styles['upload']}>
      <progress aria-label="Sending the file" value={sent} max={all} />
      <span role="status">{sent < all ? `${showCount(Math.floor((sent / all) * 100))} % sent` : 'being read'}</span>
      <Button onClick={onCancel}>Cancel</Button>
    </div>
  );
}

/** A form with a file, which the common curl line does not write. */
function curlLine(draft: Draft, name: string): string {
  const fields = Object.entries(fieldsOf(draft)).map(([field, value]) => `-F ${field}=${value}`);
  return [
    `curl ${location.origin}/api/v1/reconciliations`,
    '-H "authorization: Bearer $WEIR_ADMIN_TOKEN"',
    ...fields,
    `-F 'file=@${name.replaceAll("'", '')}'`,
  ].join(' \\\n  ');
}

function FilePlace({ file, onFile }: { readonly file: File | undefined; readonly onFile: (file: File | undefined) => void }) {
  const id = useId();
  const [isOver, setIsOver] = useState(false);
  return (
    <div
      className={styles['drop']}
      data-over={isOver}
      role="group"
      aria-label="Export"
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setIsOver(false);
        onFile(event.dataTransfer.files[0]);
      }}
    >
      <label htmlFor={id}>
        {file === undefined ? 'Drop the export here, or choose it' : `${file.name}, ${showCount(Math.ceil(file.size / 1024))} KiB`}
      </label>
      <input id={id} type="file" accept=".json,.csv,.txt,application/json,text/csv" onChange={(event) => onFile(event.target.files?.[0])} />
    </div>
  );
}
