import { type keepBooks as realKeepBooks, keepNoBooks } from '../src/gateway/attempts/books/settle.ts';
import type { CallReport } from '../src/gateway/telemetry/call-report.ts';
import { atEndOfTurn } from './no-journal.ts';

export * from '../src/gateway/attempts/books/settle.ts';

/**
 * Replaces metering, pricing and booking of a call: its end is reported, and its reply is sent at the end of the turn.
 */
export const keepBooks: typeof realKeepBooks = ({ report }) => {
  // The gateway has one report for both ways.
  const observer = keepNoBooks(report as Pick<CallReport, 'settled' | 'ended'>);
  return {
    ...observer,
    settled: (outcome, then) => {
      observer.settled(outcome);
      if (then !== undefined) atEndOfTurn(then);
    },
  };
};
