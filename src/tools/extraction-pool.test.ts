import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { RawPage } from './extract-page.ts';
import { createExtractionPool } from './extraction-pool.ts';

const never = { tenant: 'user', signal: new AbortController().signal };
const page = (html: string): RawPage => ({ bytes: Buffer.from(html), mediaType: 'html', charset: undefined });
const good = page('<title>Good</title><p>words to read</p>');
/** Many times slower to build than to look through, and in need of much memory. */
const heavy = page(`<title>Heavy</title><p>quick words</p>${'<p>a<br>b</p>'.repeat(9_000)}`);

test('leaving: a page that is given up, waiting or under way, makes room, and too many are refused', async (context) => {
  const pool = createExtractionPool({ threadsMax: 1, waitingMax: 4, pageTimeoutMs: 60_000 });
  context.after(() => pool.close());
  const leave = new AbortController();
  const leaving = { tenant: 'user', signal: leave.signal };
  const left = [pool.extract(heavy, leaving), pool.extract(good, leaving)];
  const kept = pool.extract(good, never);
  await assert.rejects(pool.extract(good, never), /too many pages/);
  leave.abort(new Error('left'));
  for (const one of left) await assert.rejects(one, /left/);
  assert.equal((await kept)?.title, 'Good');
  await assert.rejects(pool.extract(good, { tenant: 'user', signal: AbortSignal.abort(new Error('gone')) }), /gone/);
});

test('closing: what waits is answered, and nothing is left running', async () => {
  const pool = createExtractionPool({ threadsMax: 1 });
  const waiting = [pool.extract(heavy, never), pool.extract(good, never)];
  await pool.close();
  const [first, second] = await Promise.all(waiting);
  assert.ok([undefined, 'Heavy'].includes(first?.title), 'nothing, or its quick reading');
  assert.equal(second, undefined, 'a page that was not begun');
});
