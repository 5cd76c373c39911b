import { useEffect, useState } from 'react';

import { Amount } from '../../components/amount.tsx';
import { nanosOf } from '../../format/money.ts';
import type { Payer } from '../../playground/payer.ts';
import { type Quote, quoteOf } from '../../playground/quotes.ts';
import type { Sent } from '../../playground/runs.ts';
import { Button } from '../../ui/button.tsx';
import styles from './playground-page.module.css';

type Props = {
  readonly payer: Payer;
  /** What would be sent now. */
  readonly requests: readonly Pick<Sent, 'path' | 'body'>[];
  readonly isReady: boolean;
  readonly unreadyBecause: string;
  readonly isRunning: boolean;
  readonly onRun: () => void;
  readonly onStop: () => void;
};

/** What the next calls would cost, and the button that makes or stops them. */
export function RunBar({ payer, requests, isReady, unreadyBecause, isRunning, onRun, onStop }: Props) {
  return (
    <>
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
          disabledBecause={isReady ? undefined : unreadyBecause}
          onClick={onRun}
        >
          Run
        </Button>
      )}
    </>
  );
}

const settleMs = 700;

/** What the next run would cost, once nothing is being written any more. */
function QuoteView({ payer, requests }: { readonly payer: Payer; readonly requests: Props['requests'] }) {
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
