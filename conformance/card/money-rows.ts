import type { Bound, CardRow } from './card-row.ts';

const none = (name: string): Bound => ({ name, of: new RegExp(`\\b${name} (\\d+)`), most: 0 });

const crashes = {
  file: 'conformance/audit/crash.deep.test.ts',
  figures: /ℹ (.*missing \d+.*)/,
  bounds: [none('missing'), none('doubled'), none('heldAtRestNanoUsd'), none('overLimitNanoUsd')],
};
const powerLosses = { file: 'conformance/audit/power-loss.test.ts', figures: /ℹ (\{"losses".*\})/ };
const simulated = (id: string) => ({ file: 'conformance/audit/simulation.deep.test.ts', title: new RegExp(`\\b${id}\\b`) });
const desk = 'src/billing/credits/desk-simulation.test.ts';

/** Metering and money. */
export const moneyRows: readonly CardRow[] = [
  {
    id: 'M1',
    promise: 'Each call that an upstream answered is booked once, also if its process is killed at any moment or the power fails',
    proofs: [
      crashes,
      powerLosses,
      simulated('M1'),
      { file: 'conformance/books/kill-9.deep.test.ts' },
      { file: 'conformance/books/kill-workers.deep.test.ts' },
    ],
    notShown: '10,000 kills on each engine (`npm run audit:crash -- --kills 10000`)',
  },
  {
    id: 'M2',
    promise: 'The charge of a call is the price of its reported usage, to the last nano-USD',
    proofs: [
      { file: 'conformance/books/exactness.deep.test.ts' },
      { file: 'src/billing/metering/dispute-usage.test.ts', title: /\bM2\b/ },
      { file: 'conformance/limits/spend.test.ts', title: /\bM2\b/ },
      simulated('M2'),
    ],
  },
  {
    id: 'M3',
    promise: 'A call that a crash cuts is charged for no more than was delivered, and its row says that it is estimated',
    proofs: [crashes, powerLosses, simulated('M3')],
  },
  {
    id: 'M4',
    promise: 'Postings add up to 0, balances are the sums of their postings, and an account that does not add up gets no further calls',
    proofs: [
      { file: 'conformance/store/sqlite.test.ts', title: /\bM4\b/ },
      { file: 'conformance/store/postgres.test.ts', title: /\bM4\b/ },
      { file: 'src/billing/credits/book-verifier.test.ts' },
      { file: 'conformance/books/holds.test.ts', title: /\bM4\b/ },
      simulated('M4'),
    ],
  },
  {
    id: 'M5',
    promise: 'A hold ends once, however its call ends, and at rest nothing is held',
    proofs: [
      { file: 'src/gateway/endpoints/chat/held-calls.test.ts', title: /\bM5\b/ },
      { file: desk, title: /\bM5\b/ },
      simulated('M5'),
      crashes,
    ],
  },
  {
    id: 'M6',
    promise: 'Concurrent calls of several processes never spend more than a limit, through crashes too',
    proofs: [
      { file: 'conformance/limits/team-spend.test.ts', title: /\bM6\b/ },
      { file: 'conformance/limits/spend.test.ts', title: /\bM6\b/ },
      { file: 'conformance/books/holds.test.ts', title: /\bM6\b/ },
      { file: 'conformance/books/credits-kill.test.ts' },
      { file: 'src/gateway/endpoints/chat/held-attacks.test.ts', title: /\bM6\b/ },
      { file: desk, title: /\bM6\b/ },
      crashes,
    ],
  },
  {
    id: 'M7',
    promise: 'After failed, cancelled and finished calls, the available amount is the limit less the charges',
    proofs: [{ file: 'src/gateway/endpoints/chat/held-calls.test.ts', title: /\bM7\b/ }, { file: desk, title: /\bM7\b/ }, simulated('M7')],
  },
  {
    id: 'M8',
    promise: 'A client that leaves at any byte pays by the policy of its key: never nothing for output, never more than the hold',
    proofs: [
      { file: 'conformance/faults/disconnect-policies.test.ts' },
      { file: 'conformance/faults/client-leaves.test.ts' },
      { file: 'conformance/books/idempotency.test.ts', title: /\bM8\b/ },
    ],
  },
  {
    id: 'M9',
    promise: 'A call has one charge, whatever its attempts; an attempt that delivered nothing costs nothing',
    proofs: [{ file: 'conformance/faults/attempts.test.ts' }, { file: 'conformance/faults/two-targets.test.ts' }, simulated('M9')],
  },
  {
    id: 'M10',
    promise: 'Requests with the same Idempotency-Key are one call, one charge and one answer, on several gateways too',
    proofs: [
      { file: 'conformance/books/idempotency.test.ts', title: /\bM10\b/ },
      { file: 'conformance/books/idempotency-crash.test.ts' },
      { file: 'conformance/postgres/idempotency.test.ts' },
    ],
  },
  { id: 'M11', promise: 'Reading results, statistics and costs changes no book', proofs: [{ file: 'conformance/books/reads.test.ts' }] },
  {
    id: 'M12',
    promise: 'A video that was accepted ends once and is settled once; faults of the gateway end none',
    proofs: [
      { file: 'conformance/videos/kill-9.test.ts' },
      { file: 'conformance/videos/operator-faults.test.ts' },
      { file: 'conformance/videos/polls.test.ts' },
      { file: 'src/tasks/simulation.test.ts', figures: /ℹ (\d+ tasks: .*)/ },
    ],
  },
  {
    id: 'M13',
    promise: 'Prices are those of the moment of admission, and a hold covers the charge',
    proofs: [
      { file: 'src/billing/rating/bound-cost.test.ts' },
      { file: 'src/main/config/price-settings.test.ts', title: /\bM13\b/ },
      { file: 'src/billing/metering/estimate-usage.test.ts', title: /\bM13\b/ },
      { file: 'conformance/books/quotes.test.ts' },
    ],
  },
  {
    id: 'M14',
    promise: 'The bill is for the request as the upstream reads it, whatever its parser makes of odd JSON',
    proofs: [
      {
        file: 'src/dialects/video-tasks/bill-what-is-sent.test.ts',
        figures: /ℹ (\d+ requests, .* billed too low)/,
        bounds: [{ name: 'billed too low', of: /(\d+) billed too low/, most: 0 }],
      },
      { file: 'src/billing/rating/read-pricing-parameters.test.ts' },
    ],
  },
  {
    id: 'M15',
    promise: 'Statistics of any span, zone and filter are the sums of the ledger; the workbook is the statistics',
    proofs: [
      { file: 'conformance/store/sqlite.test.ts', title: /\bM15\b/ },
      { file: 'conformance/store/postgres.deep.test.ts', title: /\bM15\b/ },
      simulated('M15'),
    ],
  },
  {
    id: 'M16',
    promise: 'Jumps of the clock expire nothing early and book nothing twice',
    proofs: [{ file: desk, title: /\bM16\b/ }, simulated('M16')],
    notShown: 'jumps of the clock of the whole machine',
  },
  {
    id: 'M17',
    promise: 'Each form of a usage report is counted exactly; a reported zero stays zero',
    proofs: [
      { file: 'src/gateway/attempts/books/usage-shapes/usage-shapes.test.ts' },
      { file: 'src/gateway/attempts/books/usage-shapes/audio-shapes.test.ts' },
      { file: 'src/billing/metering/counted-evidence.test.ts' },
    ],
    notShown: 'replies recorded at vendors of today; the recorded ones are public files',
  },
];
