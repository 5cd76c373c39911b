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
      '`npm run audit:crash -- --store postgres --power-losses 0 --crowd 200` at d1d9d7c738e3: 50 kills with seed 3010, and 20 each with seeds 4000 to 4005 and 4007 to 4009. These are 230 kills of gateways, every fourth one with the server. Of 27,856 calls with 11,303 rows, 0 are missing, 0 doubled, nothing held at rest, nothing over a limit. The runs with seeds 3011, 3012 and 4006 ended early, because PostgreSQL did not answer in time beside about 15 other processes: they show nothing.',
  },
  {
    id: 'M1',
    day: '2026-11-28',
    result:
      '`npm run audit:crash -- --power-losses 0 --crowd 200` at bd750a46dca6, on both engines in turn. SQLite had 400 kills (100 for each of the seeds 5000 to 5002 and 5004). There were 6,306 calls with 3,053 rows. PostgreSQL had 250 kills (50 for each of the seeds 5000 to 5004). There were 31,895 calls with 17,893 rows. In both, 0 are missing, 0 doubled, nothing held at rest, nothing over a limit. With seed 5003 on SQLite, three workers did not start in time on the busy machine: that run shows nothing. All runs of this page together have 900 kills on SQLite and 480 on PostgreSQL, of several states of the code.',
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
      '`npm run soak -- --minutes 16 --samples 16`, on one processor that other programs used too, with recordings that the simulated vendor may read for 10 s. There were 17,956 calls of all interfaces, 0 failed, 1.3 KB of database for each call. From the third quarter to the last one own memory grew by 7 MB (bound 16), to 349 MB. The heap grew by 0.25 MB (3), heaps of other threads by none (12), threads by none (1). Before that, own memory grew by 46 MB while the database grew by 10 MB. The page caches of SQLite may hold 16 MB for each of six connections, which the bound leaves out since this run; that they are the cause is an inference. At rest there were 24 descriptors and 23 timers more than before, beyond the bound of 16; the next entry explains them. A run before it ended with 9 and 16 more. In that one 21 recordings were not read within 3 s, and resident memory grew by 30 MB, beyond its bound of 16; own memory, without pages of files, is judged in its place since then.',
  },
  {
    id: 'R12',
    day: '2026-11-28',
    result:
      '`taskset -c 0 npm run soak -- --minutes 16 --samples 16 --chats 15 --others 5` at bd750a46dca6, with a rest of 130 s instead of 100 s. The simulated vendors announce 120 s for idle connections, and the gateway keeps them for 118 s: these were the 24 descriptors and their timers. There were 14,181 calls of all interfaces, 0 failed, 1.4 KB of database for each call. At rest no connection was left. There were 2 descriptors more than before (connections of the database), 1 timer, no thread, and 5 MB of heap. From the third quarter to the last one the heap grew by 0.25 MB, and heaps of lasting threads by 0.25 MB. Own memory grew by 27 MB. The page caches of SQLite may have 12 of them (bound 16 beside them). Other programs starved the third quarter. By the bounds of its start the run failed. Resident memory grew by 48 MB, heaps of all threads by 22 MB, threads by 2. These were threads for sound and files, which end after 15 s without work, and garbage. The soak judges threads at rest since then, and leaves out memory of threads that end.',
  },
  {
    id: 'R12',
    day: '2026-11-28',
    result:
      'the same with `--minutes 8 --samples 12` and the new bounds, beside a load of 10 to 20: 6,765 calls of all interfaces, 0 failed, 1.4 KB of database for each call. At rest there were 2 descriptors more, no thread, and 5 MB of heap. Own memory shrank from the third quarter to the last one. It failed with 13 more timers (bound 4). A run that kept the place of each timer found 16 at such a moment, all a millisecond old. They are limits of questions to the store. A collection of garbage, with which a sample begins, blocks the event loop, and then all periodic work asks at once. Samples wait a second after it since then. No run to its end has shown that yet.',
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
  {
    id: 'R14',
    day: '2026-11-28',
    result:
      '`npm run test:fuzz:guided -- --seconds 40` at bd750a46dca6, seeds 500 and 600: 1,222,667 inputs over 9 of the 24 parsers, no finding, at most 20 ms of processor time for an input, and no thread that did not end. It paused while the load of the machine was above 11, which was most of the time. All guided runs of this page together have 5,948,367 inputs, of several states of the code.',
  },
];
