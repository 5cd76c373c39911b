import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { RawPage } from './extract-page.ts';
import { createExtractionPool } from './extraction-pool.ts';

const never = { tenant: 'user', signal: new AbortController().signal };
const page = (html: string): RawPage => ({ bytes: Buffer.from(html), mediaType: 'html', charset: undefined });
const good = page('<title>Good</title><p>words to read</p>');
/** Takes much longer to build than to scan, and needs much memory. */
const heavy = page(`<title>Heavy</title><p>quick words</p>${'<p>a<br>b</p>'.repeat(9_000)}`);

test('a cancelled page, waiting or running, frees its place, and too many waiting pages are refused', async (context) => {
  const pool = createExtractionPool({ threadsMax: 1, waitingMax: 4, pageTimeoutMs: 60_000 });
  context.after(() => pool.close());
  const leave = new AbortController();
  const leaving = { tenant: 'user', signal: leave.signal };
  const left = [pool.extract(heavy, leaving), pool.extract(good, leaving)];
  const waiting = pool.extract(good, never);
  await assert.rejects(pool.extract(good, never), /too many pages/);
  leave.abort(new Error('left'));
  for (const one of left) await assert.rejects(one, /left/);
  assert.equal((await waiting)?.title, 'Good');
  await assert.rejects(pool.extract(good, { tenant: 'user', signal: AbortSignal.abort(new Error('gone')) }), /gone/);
});

test('closing the pool answers waiting pages and leaves nothing running', async () => {
  const pool = createExtractionPool({ threadsMax: 1 });
  const waiting = [pool.extract(heavy, never), pool.extract(good, never)];
  await pool.close();
  const [first, second] = await Promise.all(waiting);
  assert.ok([undefined, 'Heavy'].includes(first?.title), 'nothing, or its quick reading');
  assert.equal(second, undefined, 'a page that was not begun');
});
