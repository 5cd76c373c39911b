import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { BookVerification } from './book-verification.ts';
import { createBookVerifier } from './book-verifier.ts';
import type { BookProblem, VerifyCursor } from './credit-books.ts';

/** Books of two parts; each step verifies one. */
function createBooks() {
  let frozen: ReadonlySet<string> = new Set();
  const kept: BookVerification[] = [];
  let nowMs = 0;
  const books = { problems: [[], []] as BookProblem[][], down: false, verified: [] as VerifyCursor['part'][], log: [] as string[] };
  const verifier = createBookVerifier({
    store: {
      verifyBooks: async ({ cursor }) => {
        if (books.down) throw new Error('down');
        books.verified.push(cursor.part);
        const isFirst = cursor.part === 'transactions';
        return {
          checked: 1,
          problems: books.problems[isFirst ? 0 : 1] ?? [],
          next: isFirst ? { part: 'leases', after: ['', ''] } : undefined,
        };
      },
      keepVerification: async (verification) => void kept.push(verification),
    },
    clock: { nowMs: () => (nowMs += 10) },
    nodeId: 'abc/1',
    logger: {
      error: ({ account, problem }: { account?: string; problem: string }, text: string) =>
        void books.log.push(`${account}: ${problem}: ${text}`),
      info: (_: unknown, text: string) => void books.log.push(text),
      debug: ({ err }: { err: Error }, text: string) => void books.log.push(`${err.message}: ${text}`),
    } as Parameters<typeof createBookVerifier>[0]['logger'],
    freeze: (userNames) => void (frozen = userNames),
    rows: 10,
  });
  return { books, kept, verifier, frozen: () => [...frozen].toSorted() };
}

test('M4: a user whose books do not add up is refused at once, and served again after a full pass without a problem', async () => {
  const { books, verifier, frozen } = createBooks();
  books.problems[0] = [{ accountId: 'user:ann', what: 'wrong' }, { what: 'of nobody' }];
  await verifier.verifyNext();
  assert.deepEqual(frozen(), ['user:ann']);
  books.problems[0] = [];
  await verifier.verifyNext();
  await verifier.verifyNext();
  assert.deepEqual(frozen(), ['user:ann'], 'half of the books is not a full pass');
  await verifier.verifyNext();
  assert.deepEqual(frozen(), []);
  assert.deepEqual(books.verified, ['transactions', 'leases', 'transactions', 'leases']);
  await verifier.verifyNext();
  await verifier.verifyNext();
  assert.deepEqual(books.log, [
    'user:ann: wrong: credit books found inconsistent',
    'undefined: of nobody: credit books found inconsistent',
    'credit books found consistent again',
  ]);
});

test('the verdict keeps the problems of the last whole pass until the next one is whole', async () => {
  const { books, verifier } = createBooks();
  books.problems[0] = [{ accountId: 'user:ann', what: 'wrong' }, { what: 'of nobody' }];
  await verifier.verifyNext();
  assert.deepEqual(verifier.verdict(), {
    problems: new Map([
      ['user:ann', 'wrong'],
      ['', 'of nobody'],
    ]),
    hasWholePass: false,
  });
  await verifier.verifyNext();
  books.problems[0] = [];
  await verifier.verifyNext();
  assert.deepEqual([verifier.verdict().problems.size, verifier.verdict().hasWholePass], [2, true]);
  await verifier.verifyNext();
  assert.equal(verifier.verdict().problems.size, 0);
});

test('a store that is down is queried again, and nobody is released', async () => {
  const { books, verifier, frozen } = createBooks();
  books.problems[1] = [{ accountId: 'user:bob', what: 'wrong' }];
  await verifier.verifyNext();
  await verifier.verifyNext();
  books.down = true;
  await verifier.verifyNext();
  assert.deepEqual(frozen(), ['user:bob']);
  assert.equal(books.log.at(-1), 'down: credit book verification failed');
  books.down = false;
  await verifier.verifyNext();
  await verifier.verifyNext();
  assert.ok(!books.log.includes('credit books found consistent again'));
});

test('each whole pass is kept under the process, with its rows and its problems alone', async () => {
  const { books, kept, verifier } = createBooks();
  books.problems[0] = [{ accountId: 'user:ann', what: 'wrong' }];
  await verifier.verifyNext();
  assert.deepEqual(kept, [], 'half of the books');
  books.down = true;
  await verifier.verifyNext();
  books.down = false;
  await verifier.verifyNext();
  books.problems[0] = [];
  await verifier.verifyNext();
  await verifier.verifyNext();
  assert.deepEqual(
    kept.map(({ startedAtMs, endedAtMs, id, author, checked, problemCount, problems }) => ({
      id,
      author,
      checked,
      problemCount,
      problems,
      isForward: endedAtMs > startedAtMs,
    })),
    ([[{ accountId: 'user:ann', what: 'wrong' }], []] as const).map((problems) => ({
      id: 'node:abc/1',
      author: 'node:abc/1',
      checked: 2,
      problemCount: problems.length,
      problems,
      isForward: true,
    })),
  );
});
