import { Link } from '@tanstack/react-router';

import type { Receipt } from '../../../../src/billing/receipts/receipt.ts';
import { Amount } from '../../components/amount.tsx';
import { Failure } from '../../components/failure.tsx';
import { showCount, showDuration } from '../../format/numbers.ts';
import { paths } from '../../paths.ts';
import type { Reply } from '../../playground/conversation.ts';
import { type Run, sdkError } from '../../playground/runs.ts';
import { Button } from '../../ui/button.tsx';
import styles from './playground-page.module.css';

type Props = {
  readonly run: Run;
  readonly sdk: 'anthropic' | 'openai' | 'genai';
  readonly onStop: () => void;
  readonly onAgain: (() => void) | undefined;
};

/** A call: its reply as far as it has come, how it ended, and what it cost. */
export function RunView({ run, sdk, onStop, onAgain }: Props) {
  const { reply, refusal, problem, state, status, isStopped } = run;
  const isRunning = state === 'running';
  const hasFailed = refusal !== undefined || problem !== undefined || reply?.error !== undefined || isStopped;
  return (
    <div className={styles['turn']} data-role="assistant">
      <span className={styles['who']}>
        {run.title}
        {isRunning && <span className={styles['busy']}> {reply === undefined ? 'waits' : 'writes'}</span>}
      </span>
      {reply !== undefined && <ReplyView reply={reply} isRunning={isRunning} />}
      {refusal !== undefined && <Refusal status={status ?? 0} body={refusal} sdk={sdk} />}
      {reply?.error !== undefined && <Refusal status={undefined} body={JSON.stringify(reply.error)} sdk={sdk} />}
      {problem !== undefined && <Failure error={problem} />}
      {isStopped && <p className={styles['quiet']}>You stopped it. What the upstream had made until then is charged.</p>}
      {isRunning ? (
        <Button icon="stop" onClick={onStop}>
          Stop
        </Button>
      ) : (
        <Figures run={run} />
      )}
      {!isRunning && hasFailed && onAgain !== undefined && (
        <Button icon="refresh" onClick={onAgain}>
          Send again
        </Button>
      )}
    </div>
  );
}

function ReplyView({ reply: { text, thought, calls, pictures }, isRunning }: { readonly reply: Reply; readonly isRunning: boolean }) {
  return (
    <>
      {thought !== '' && (
        <details className={styles['thought']}>
          <summary>Thought</summary>
          <p className={styles['said']}>{thought}</p>
        </details>
      )}
      {(text !== '' || isRunning) && (
        <p className={styles['said']} dir="auto">
          {text}
          {isRunning && <span className={styles['cursor']} aria-hidden="true" />}
        </p>
      )}
      {pictures.map((picture, at) => (
        <img key={at} className={styles['made']} src={picture} alt="Made by the model" />
      ))}
      {calls.map(({ id, name, arguments: text }) => (
        <details key={id} className={styles['call']} open>
          <summary>
            calls <code>{name}</code>
          </summary>
          <pre tabIndex={0} aria-label={`Arguments of ${name}`}>
            {indented(text)}
          </pre>
        </details>
      ))}
    </>
  );
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // While it is being written, it is not JSON yet.
    return text;
  }
}

/** An error in the words of the interface, as an application would get it. */
function Refusal({ status, body, sdk }: { readonly status: number | undefined; readonly body: string; readonly sdk: Props['sdk'] }) {
  return (
    <div className={styles['refusal']} role="alert">
      <p>
        <b>{status === undefined ? 'The stream ended with an error' : `Refused with ${status}`}</b>
        {status !== undefined && (
          <>
            {' '}
            · an SDK throws <code>{sdkError(sdk, status)}</code>
          </>
        )}
      </p>
      <pre tabIndex={0} aria-label="The error as it came">
        {indented(body)}
      </pre>
    </div>
  );
}

/** Times, tokens and the receipt. */
function Figures({ run: { firstMs, totalMs, reply, requestId, receipt } }: { readonly run: Run }) {
  const usage = reply?.usage;
  const words = [
    firstMs !== undefined && totalMs !== undefined && firstMs < totalMs ? `first ${showDuration(firstMs)}` : undefined,
    totalMs === undefined ? undefined : showDuration(totalMs),
    usage?.input === undefined ? undefined : `${showCount(usage.input)} in`,
    usage?.output === undefined ? undefined : `${showCount(usage.output)} out`,
    usage?.thought === undefined || usage.thought === 0 ? undefined : `${showCount(usage.thought)} of them thought`,
    usage?.cached === undefined || usage.cached === 0 ? undefined : `${showCount(usage.cached)} cached`,
    speedOf(usage?.output, firstMs, totalMs),
    reply?.stop,
  ].filter((word) => word !== undefined);
  return (
    <>
      <p className={styles['figures']}>
        {words.map((word) => (
          <span key={word}>{word}</span>
        ))}
        {requestId !== undefined && receipt !== undefined && <ReceiptLink id={requestId} receipt={receipt} />}
      </p>
      {typeof receipt === 'object' && <Notes receipt={receipt} />}
    </>
  );
}

/** Tokens a second while the reply was written. */
function speedOf(tokens: number | undefined, firstMs: number | undefined, totalMs: number | undefined): string | undefined {
  if (tokens === undefined || firstMs === undefined || totalMs === undefined || totalMs - firstMs < 50) return undefined;
  return `${Math.round((tokens * 1000) / (totalMs - firstMs))} tokens/s`;
}

function ReceiptLink({ id, receipt }: { readonly id: string; readonly receipt: NonNullable<Run['receipt']> }) {
  if (receipt === 'asked') return <span>receipt follows</span>;
  if (receipt === 'none') return <span>no receipt</span>;
  return (
    <Link to={paths.call(id)}>
      <Amount money={receipt.total} estimated={receipt.estimated} /> receipt
    </Link>
  );
}

/** What a translation has changed. */
function Notes({ receipt }: { readonly receipt: Receipt }) {
  const notes = receipt.rows.flatMap(({ notes: { request, reply } }) => [...request, ...reply]);
  if (notes.length === 0) return null;
  return (
    <details className={styles['notes']}>
      <summary>{notes.length === 1 ? '1 note of the translation' : `${notes.length} notes of the translation`}</summary>
      <ul>
        {notes.map((note, at) => (
          <li key={at}>
            {note.kind} <code>{note.field}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}
