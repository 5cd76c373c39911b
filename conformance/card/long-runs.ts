/** A longer form of a suite that somebody ran. `npm run card` repeats it on the page and does not run it. */
export type LongRun = {
  /** The promise. */
  readonly id: string;
  readonly day: string;
  /** The command and its figures, with everything that was not as promised. */
  readonly result: string;
};

export const longRuns: readonly LongRun[] = [
  {
    id: 'M1',
    day: '2026-11-27',
    result:
      'backup at 20 random moments under load, total loss and restore on SQLite (`WEIR_BACKUP_MOMENTS=20`): of 1,619 calls only those were missing that came after the stated moment. The ledger added up each time.',
  },
  {
    id: 'R12',
    day: '2026-11-27',
    result:
      '`npm run soak -- --minutes 30 --chats 25 --others 8`: gateway, monitor and console in a process of their own. In 28 minutes 45,526 calls of all interfaces, none failed. After collections of garbage, from minute 5 to minute 28: heap 50.8 to 52.8 MB, heaps of all other threads 115.0 to 115.8 MB. Resident memory 379 to 422 MB (425 MB at minute 19), descriptors 165 to 125, 1.3 KB of database for each call. Then other programs overloaded the machine: 299 calls were refused, and calls that lasted longer held up to 225 descriptors. The soak compares descriptors and timers at rest since then.',
  },
  {
    id: 'R14',
    day: '2026-11-27',
    result:
      '`npm run test:fuzz:guided -- --seconds 7 --seed 5`: 55,672 inputs over 24 parsers, no finding, and at most 21 ms of processor time for an input on an event loop. One video did not end, and was ended with its thread. `npm run test:fuzz` on 4,000 schemas: at most 10 ms of processor time between two turns of the event loop.',
  },
];
