import { type keepBooks as realKeepBooks, keepNoBooks } from '../src/gateway/attempts/books/settle.ts';
import type { CallReport } from '../src/gateway/telemetry/call-report.ts';
import { atEndOfTurn } from './no-journal.ts';

export { keepNoBooks };

/** Stands in for what meters, prices and books a call: how it ended is told, and its reply leaves at the end of the turn. */
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
