import type { DocumentRow } from '../document.ts';

export const computing: readonly DocumentRow[] = [
  [
    'code',
    '/bm25',
    'BM25 in one page',
    '2026-05-02',
    'BM25 ranks documents by the words of a query. A word counts more when it is rare in the collection and when it comes often in the document, but each further time counts less.\n\nThe usual settings are k1 = 1.2 and b = 0.75; b says how much long documents are held back.',
  ],
  [
    'code',
    '/utf-8',
    'How UTF-8 works',
    '2026-01-21',
    'UTF-8 writes a character in one to four bytes. The first 128 characters are the bytes of ASCII. The first byte says how many follow, and all that follow begin with the bits 10.\n\nThat is why a reader can start in the middle of a stream and find the next character.',
  ],
  [
    'code',
    '/server-sent-events',
    'Server-sent events',
    '2026-03-15',
    'A stream of server-sent events is text of the type text/event-stream. Lines begin with data:, event:, id: or retry:, and an empty line ends an event.\n\nA browser that loses the connection asks again with the header Last-Event-ID.',
  ],
  [
    'code',
    '/backoff',
    'Exponential backoff with jitter',
    '2026-06-23',
    'Clients that all retry after the same time come back together. Doubling the wait and choosing a random time below it spreads them.\n\nA limit on retries, such as ten percent of all calls, keeps a service that is down from being held down.',
  ],
  [
    'code',
    '/floating-point',
    'Why 0.1 + 0.2 is not 0.3',
    '2025-12-01',
    'Binary floating point cannot hold 0.1 exactly. The sum of 0.1 and 0.2 is 0.30000000000000004.\n\nMoney is therefore counted in whole numbers of the smallest unit.',
  ],
  [
    'code',
    '/docs/install',
    'Installing the Quillfeather toolkit',
    '2026-08-08',
    'Quillfeather 4.2 needs Node 22 or later. Install it with npm install quillfeather and run quill init in an empty folder.\n\nThe configuration is quill.toml; the option watch = true rebuilds on each change.',
  ],
  [
    'code',
    '/docs/changelog',
    'Quillfeather 4.2: what is new',
    '2026-10-12',
    'Version 4.2 of Quillfeather was released on 12 October 2026. It adds incremental builds, drops support for Node 20, and mends a leak in the file watcher.\n\nThe flag --legacy-paths is gone.',
  ],
  [
    'code',
    '/sqlite-wal',
    'What SQLite does with a WAL',
    '2026-04-30',
    'In WAL mode SQLite appends changes to a second file, and readers go on reading the old state. A checkpoint copies the changes back.\n\nOne writer at a time is still the rule.',
  ],
];
