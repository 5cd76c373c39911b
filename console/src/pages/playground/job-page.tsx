import { type ReactNode, useEffect } from 'react';

import { Failure } from '../../components/failure.tsx';
import { changeJob, type Output, runJob, stopJob, useJob } from '../../playground/jobs.ts';
import type { Payer } from '../../playground/payer.ts';
import { Inspector } from './inspector.tsx';
import styles from './playground-page.module.css';
import { RunBar } from './run-bar.tsx';
import { RunView } from './run-view.tsx';
import { useModels } from './use-playground.ts';

type Props = {
  readonly kind: string;
  readonly payer: Payer;
  readonly path: string;
  /** The request as the fields have it. Of a form, members that name files are their names. */
  readonly body: object;
  /** What is sent in place of the text. */
  readonly form?: FormData | undefined;
  /** What a quote takes in place of the text. */
  readonly quoted?: object;
  readonly unreadyBecause: string | undefined;
  readonly follow?: (output: Output, keyId: string, signal: AbortSignal) => Promise<void>;
  readonly children: ReactNode;
  /** Shows an answer. */
  readonly result: (output: Output) => ReactNode;
};

/** Calls of one interface that is no chat: fields, cost, answer, receipt and wires. */
export function JobPage({ kind, payer, path, body, form, quoted, unreadyBecause, follow, children, result }: Props) {
  const { run, output, edited } = useJob(kind);
  const text = edited ?? JSON.stringify(body, null, 2);
  const isReady = edited !== undefined || unreadyBecause === undefined;
  const isRunning = run?.state === 'running';
  const start = (): void => {
    if (isReady && !isRunning) void runJob(kind, { payer, sent: { method: 'POST', path, body: text }, form, follow });
  };
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (!(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey) return;
      if (event.key === 'Enter') start();
      else if (event.key === '.') stopJob(kind);
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  });
  return (
    <>
      <div className={styles['job']}>
        <div className={styles['form']}>
          {children}
          <div className={styles['composerRow']}>
            <RunBar
              payer={payer}
              requests={[{ path, body: quoted === undefined ? text : JSON.stringify(quoted) }]}
              isReady={isReady}
              unreadyBecause={unreadyBecause ?? ''}
              isRunning={isRunning}
              onRun={start}
              onStop={() => stopJob(kind)}
            />
          </div>
        </div>
        <div className={styles['answer']} aria-live="polite">
          {run === undefined && <p className={styles['quiet']}>The answer appears here.</p>}
          {output !== undefined && result(output)}
          {run !== undefined && <RunView run={run} sdk="openai" onStop={() => stopJob(kind)} onAgain={undefined} />}
        </div>
      </div>
      <Inspector
        title="Request and wires"
        next={{ method: 'POST', path, body: text }}
        isEdited={edited !== undefined}
        {...(form === undefined && { onEdit: (changed: string | undefined) => changeJob(kind, { edited: changed }) })}
        run={run}
      />
    </>
  );
}

type ModelFieldProps = { readonly kind: string; readonly value: string; readonly onChange: (model: string) => void };

/** The model of a kind of calls; the first one that the payer may call, until another one is chosen. */
export function ModelField({ kind, value, onChange }: ModelFieldProps) {
  const { models, error } = useModels(kind);
  const [first] = models ?? [];
  useEffect(() => {
    if (value === '' && first !== undefined) onChange(first.name);
  }, [value, first, onChange]);
  return (
    <label className={styles['modelField']}>
      <span>Model</span>
      <input
        className={styles['model']}
        list={`models-${kind}`}
        spellCheck={false}
        value={value}
        placeholder={models?.length === 0 ? 'no model of this kind' : 'model'}
        onChange={(event) => onChange(event.target.value.trim())}
      />
      <datalist id={`models-${kind}`}>
        {models?.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {error !== null && <Failure error={error} />}
    </label>
  );
}
