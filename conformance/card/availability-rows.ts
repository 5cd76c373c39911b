import type { CardRow } from './card-row.ts';

/** Availability. The longer forms of R3 to R11 are those of `npm run test:faults -- --long`. */
export const availabilityRows: readonly CardRow[] = [
  {
    id: 'R1',
    promise: 'While PostgreSQL is down, known keys are served, unknown ones get 503, and afterwards no row is missing',
    proofs: [{ file: 'conformance/postgres/outage.deep.test.ts', figures: /ℹ (.*calls.*)/ }],
    notShown: 'ten minutes at 100 calls a second: npm run audit:crash -- --outage 600',
  },
  { id: 'R2', promise: 'Nothing but the database is needed; Redis is not used', proofs: [{ file: 'checks/house.test.ts' }] },
  {
    id: 'R3',
    promise: 'One of two upstreams is dead: no call fails that had not begun to answer',
    proofs: [{ file: 'conformance/chaos/outages.deep.timing.test.ts' }, { file: 'conformance/faults/two-targets.test.ts' }],
  },
  {
    id: 'R4',
    promise: 'All upstreams are dead: few attempts, a quick 503 with the time of a retry',
    proofs: [{ file: 'conformance/chaos/outages.timing.test.ts' }, { file: 'conformance/chaos/last-target.test.ts' }],
  },
  {
    id: 'R5',
    promise: 'A broken reply never looks complete, and a failure before its content is replaced unseen',
    proofs: [
      { file: 'conformance/faults/before-content.test.ts' },
      { file: 'conformance/faults/mid-stream.test.ts' },
      { file: 'conformance/faults/errors-in-streams.test.ts' },
      { file: 'conformance/translation/cut-everywhere.test.ts' },
    ],
  },
  {
    id: 'R6',
    promise: 'Clients that never read hold little memory, and are closed and settled',
    proofs: [
      { file: 'conformance/faults/stalled-readers.deep.test.ts', figures: /^\s*(.* MB each at most.*)$/ },
      { file: 'conformance/faults/memory.test.ts' },
    ],
    notShown: '1,000 clients at 1 MB each: the short form has 60 clients',
  },
  {
    id: 'R7',
    promise: 'Clients that send slowly are closed in time and slow down nobody',
    proofs: [{ file: 'conformance/faults/slow-senders.deep.timing.test.ts', figures: /^\s*(p99 .* slow clients.*)$/ }],
  },
  {
    id: 'R8',
    promise: 'No request blocks the others for more than 50 ms',
    proofs: [
      { file: 'conformance/faults/large-bodies.deep.timing.test.ts' },
      { file: 'conformance/faults/client-schemas.deep.timing.test.ts' },
      { file: 'conformance/faults/scan-cost.timing.test.ts' },
    ],
  },
  {
    id: 'R9',
    promise: 'A small compressed request cannot become a huge one',
    proofs: [{ file: 'conformance/gateway/refusals.test.ts', title: /compressed/ }],
  },
  {
    id: 'R10',
    promise: 'At three times its capacity a gateway serves nearly all of it, and a flooding tenant slows down nobody',
    proofs: [{ file: 'conformance/overload/overload.deep.timing.test.ts' }],
  },
  {
    id: 'R11',
    promise: 'A stop cuts no stream within its grace period, and a rolling restart fails no call',
    proofs: [
      { file: 'conformance/books/drain.deep.test.ts', figures: /ℹ (.*live streams.*)/ },
      {
        file: 'conformance/books/rolling-restart.deep.test.ts',
        figures: /ℹ (.*calls, .* failed)/,
        bounds: [{ name: 'failed', of: /(\d+) failed/, most: 0 }],
      },
    ],
  },
  {
    id: 'R12',
    promise: 'Memory, files and timers stay flat',
    proofs: [{ file: 'conformance/gateway/known-failures.test.ts', title: /memory does not grow/ }],
    notShown: 'a soak of hours on a machine without other work',
  },
  {
    id: 'R13',
    promise: 'If the disk is full or fails, calls are refused or booked, and nothing is lost silently',
    proofs: [{ file: 'conformance/books/disk.test.ts' }],
  },
  {
    id: 'R14',
    promise: 'No input ends a process',
    proofs: [
      { file: 'conformance/fuzz/fuzz-parsers.test.ts' },
      { file: 'conformance/admin/hostile.test.ts' },
      { file: 'conformance/faults/raw-requests.test.ts' },
    ],
    notShown: 'ten million inputs with coverage guidance (`npm run test:fuzz:guided`)',
  },
];
