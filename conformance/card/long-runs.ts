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
    id: 'M1',
    day: '2026-11-28',
    result:
      'the same on PostgreSQL, with seed 7: of 2,302 answered calls 1,396 were missing, all of them after the stated moment; 177 came from journals. The ledger added up each time.',
  },
  {
    id: 'M1',
    day: '2026-11-28',
    result:
      '`npm run audit:crash -- --kills 100 --store sqlite --crowd 200` with seeds 1000, 1001, 1002, 1006 and 1100: 500 kills, 5,090 calls, 1,306 rows; 0 missing, 0 doubled, nothing held at rest, nothing over a limit. With seeds 1003 to 1005 a gateway did not start within its time, because about 60 other processes wanted the two processors: those runs show nothing.',
  },
  {
    id: 'M1',
    day: '2026-11-28',
    result:
      '`npm run audit:crash -- --store postgres --power-losses 0 --crowd 200` at d1d9d7c738e3: 50 kills with seed 3010, and 20 each with seeds 4000 to 4005 and 4007 to 4009. These are 230 kills of gateways, every fourth one with the server. Of 27,856 calls with 11,303 rows, 0 are missing, 0 doubled, nothing held at rest, nothing over a limit. The runs with seeds 3011, 3012 and 4006 ended early, because PostgreSQL did not answer in time beside about 15 other processes: they show nothing. Kills of other states of the code are not added up.',
  },
  {
    id: 'R11',
    day: '2026-11-28',
    result:
      '`conformance/postgres/rolling-upgrade.deep.test.ts`: three gateways on one PostgreSQL, replaced one by one from schema 42 to 47, to a version after it, and back: 573 calls over nine restarts, 0 failed, no row lost or doubled.',
  },
  {
    id: 'R12',
    day: '2026-11-27',
    result:
      '`npm run soak -- --minutes 30 --chats 25 --others 8`: gateway, monitor and console in a process of their own. In 28 minutes 45,526 calls of all interfaces, none failed. After collections of garbage, from minute 5 to minute 28: heap 50.8 to 52.8 MB, heaps of all other threads 115.0 to 115.8 MB. Resident memory 379 to 422 MB (425 MB at minute 19), descriptors 165 to 125, 1.3 KB of database for each call. Then other programs overloaded the machine: 299 calls were refused, and calls that lasted longer held up to 225 descriptors. The soak compares descriptors and timers at rest since then.',
  },
  {
    id: 'R12',
    day: '2026-11-28',
    result:
      '`npm run soak -- --minutes 16 --samples 16`, on one processor that other programs used too, with recordings that the simulated vendor may read for 10 s. There were 17,956 calls of all interfaces, 0 failed, 1.3 KB of database for each call. From the third quarter to the last one own memory grew by 7 MB (bound 16), to 349 MB. The heap grew by 0.25 MB (3), heaps of other threads by none (12), threads by none (1). Before that, own memory grew by 46 MB while the database grew by 10 MB. The page caches of SQLite may hold 16 MB for each of six connections, which the bound leaves out since this run; that they are the cause is an inference. At rest there were 24 descriptors and 23 timers more than before, beyond the bound of 16: not explained yet. A run before it ended with 9 and 16 more. In that one 21 recordings were not read within 3 s, and resident memory grew by 30 MB, beyond its bound of 16; own memory, without pages of files, is judged in its place since then.',
  },
  {
    id: 'R14',
    day: '2026-11-28',
    result:
      '`npm run test:fuzz:guided -- --seconds 60`, a run with seed 100 and a part of one with seed 200: 2,794,084 inputs over 24 parsers, and at most 24 ms of processor time for an input on an event loop. Two findings, both repaired. A damaged event of a Gemini upstream with an escape that JSON does not know in a key gave an unexpected error. The fast scanner took the keys "" and "\\u0000" for one, which cost a second scan. Six threads did not end an input within 20 s on the busy machine, and were ended: three of them with media, and three whose inputs take less than 2 ms alone. `npm run test:fuzz` on 4,000 schemas: at most 10 ms of processor time between two turns of the event loop.',
  },
  {
    id: 'R14',
    day: '2026-11-28',
    result:
      '`npm run test:fuzz:guided` at d1d9d7c738e3, seeds 300 and 400: 1,931,616 inputs over 13 of the 24 parsers, no finding, and at most 22 ms of processor time for an input. It was stopped when the machine was too busy.',
  },
];
