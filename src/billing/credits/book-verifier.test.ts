import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createBookVerifier } from './book-verifier.ts';
import type { BookProblem, VerifyCursor } from './credit-books.ts';

/** Books of two parts, of which each look verifies one. */
function createBooks() {
  let frozen: ReadonlySet<string> = new Set();
  const books = { problems: [[], []] as BookProblem[][], down: false, asked: [] as VerifyCursor['part'][], log: [] as string[] };
  const verifier = createBookVerifier({
    store: {
      verifyBooks: async ({ cursor }) => {
        if (books.down) throw new Error('down');
        books.asked.push(cursor.part);
        const isFirst = cursor.part === 'transactions';
        return {
          checked: 1,
          problems: books.problems[isFirst ? 0 : 1] ?? [],
          next: isFirst ? { part: 'leases', after: ['', ''] } : undefined,
        };
      },
    },
    logger: {
      error: ({ user, problem }: { user?: string; problem: string }, text: string) => void books.log.push(`${user}: ${problem}: ${text}`),
      info: (_: unknown, text: string) => void books.log.push(text),
      debug: ({ err }: { err: Error }, text: string) => void books.log.push(`${err.message}: ${text}`),
    } as Parameters<typeof createBookVerifier>[0]['logger'],
    freeze: (userNames) => void (frozen = userNames),
    rows: 10,
  });
  return { books, verifier, frozen: () => [...frozen].toSorted() };
}

test('M4: a user whose books do not add up is refused at once, and served again after all was gone through and found right', async () => {
  const { books, verifier, frozen } = createBooks();
  books.problems[0] = [{ userName: 'ann', what: 'wrong' }, { what: 'of nobody' }];
  await verifier.look();
  assert.deepEqual(frozen(), ['ann']);
  books.problems[0] = [];
  await verifier.look();
  await verifier.look();
  assert.deepEqual(frozen(), ['ann'], 'half of the books is not all of them');
  await verifier.look();
  assert.deepEqual(frozen(), []);
  assert.deepEqual(books.asked, ['transactions', 'leases', 'transactions', 'leases']);
  await verifier.look();
  await verifier.look();
  assert.deepEqual(books.log, [
    'ann: wrong: credit books found inconsistent',
    'undefined: of nobody: credit books found inconsistent',
    'credit books found consistent again',
  ]);
});

test('a store that is down is asked again, and frees nobody', async () => {
  const { books, verifier, frozen } = createBooks();
  books.problems[1] = [{ userName: 'bob', what: 'wrong' }];
  await verifier.look();
  await verifier.look();
  books.down = true;
  await verifier.look();
  assert.deepEqual(frozen(), ['bob']);
  assert.equal(books.log.at(-1), 'down: credit book verification failed');
  books.down = false;
  await verifier.look();
  await verifier.look();
  assert.ok(!books.log.includes('credit books found consistent again'));
});
