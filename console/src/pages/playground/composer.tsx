import { useEffect, useState, type ClipboardEvent, type ReactNode } from 'react';

import { Amount } from '../../components/amount.tsx';
import { nanosOf } from '../../format/money.ts';
import { chat } from '../../playground/chat.ts';
import { keyFor, type Payer } from '../../playground/payer.ts';
import { addPicture, pictureAddress, pictureTypes, refusePicture } from '../../playground/pictures.ts';
import { type Quote, quoteOf } from '../../playground/quotes.ts';
import type { Sent } from '../../playground/runs.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import styles from './playground-page.module.css';

type Props = {
  readonly payer: Payer;
  /** What would be sent now, by lane. */
  readonly requests: readonly Sent[];
  readonly isReady: boolean;
  readonly isRunning: boolean;
  readonly onRun: () => void;
  readonly onStop: () => void;
  readonly children: ReactNode;
};

/** The next thing that is said, in all lanes, with what it would cost. */
export function Composer({ payer, requests, isReady, isRunning, onRun, onStop, children }: Props) {
  const { text, pictures } = chat.use();
  const [refused, setRefused] = useState<string>();
  const add = async (files: readonly File[]): Promise<void> => {
    const problem = files.map(refusePicture).find((each) => each !== undefined);
    setRefused(problem);
    if (problem !== undefined) return;
    const added = await Promise.all(files.map(addPicture));
    chat.change((state) => ({ ...state, pictures: [...state.pictures, ...added] }));
  };
  const paste = (event: ClipboardEvent): void => {
    const files = [...event.clipboardData.files];
    if (files.length === 0) return;
    event.preventDefault();
    void add(files);
  };
  // The key is made when somebody begins to write: a gateway needs a moment to know that its wires are kept.
  const prepare = (): void => void keyFor(payer).catch(() => undefined);
  return (
    <section className={styles['composer']} aria-label="Your message">
      <textarea
        aria-label="Message to all lanes"
        placeholder="Say something to all lanes"
        rows={3}
        value={text}
        onFocus={prepare}
        onPaste={paste}
        onChange={(event) => chat.change((state) => ({ ...state, text: event.target.value }))}
      />
      {pictures.length > 0 && (
        <p className={styles['pictures']}>
          {pictures.map((picture) => (
            <button
              key={picture.mark}
              type="button"
              aria-label={`Remove the image ${picture.name}`}
              onClick={() => chat.change((state) => ({ ...state, pictures: state.pictures.filter(({ mark }) => mark !== picture.mark) }))}
            >
              <img src={pictureAddress(picture)} alt="" />
              {picture.name} <Icon name="close" />
            </button>
          ))}
        </p>
      )}
      {refused !== undefined && (
        <p className={styles['wrong']} role="alert">
          {refused}
        </p>
      )}
      <div className={styles['composerRow']}>
        <label className={styles['file']}>
          <Icon name="plus" /> Image
          <input
            type="file"
            className="visually-hidden"
            accept={pictureTypes.join(',')}
            multiple
            onChange={(event) => {
              void add([...(event.target.files ?? [])]);
              event.target.value = '';
            }}
          />
        </label>
        {children}
        <QuoteView payer={payer} requests={isReady ? requests : []} />
        {isRunning ? (
          <Button icon="stop" shortcut="Control+." onClick={onStop}>
            Stop all
          </Button>
        ) : (
          <Button
            kind="main"
            icon="playground"
            shortcut="Control+Enter"
            disabledBecause={isReady ? undefined : 'Write a message, and choose a model in each lane.'}
            onClick={onRun}
          >
            Run
          </Button>
        )}
      </div>
    </section>
  );
}

const settleMs = 700;

/** What the next run would cost, once nothing is being written any more. */
function QuoteView({ payer, requests }: { readonly payer: Payer; readonly requests: readonly Sent[] }) {
  const of = JSON.stringify([payer, requests]);
  const [found, setFound] = useState<{ readonly of: string; readonly quotes: readonly Quote[] }>();
  useEffect(() => {
    if (requests.length === 0) return undefined;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      Promise.all(requests.map((request) => quoteOf(payer, request, controller.signal))).then(
        (quotes) => setFound({ of, quotes }),
        // There is no quote then. The call itself says why.
        () => setFound(undefined),
      );
    }, settleMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
    // The text has all that the quote depends on.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [of]);
  if (found === undefined || requests.length === 0) return <span className={styles['quote']} />;
  const sum = (name: 'expected' | 'maximum'): bigint => found.quotes.reduce((all, quote) => all + nanosOf(quote[name]), 0n);
  const refusal = found.quotes.find(({ allowed }) => !allowed);
  return (
    <span className={styles['quote']} data-old={found.of !== of} aria-live="polite">
      about <Amount money={sum('expected')} />, at most <Amount money={sum('maximum')} />
      {refusal !== undefined && <b> · more than is left</b>}
    </span>
  );
}
