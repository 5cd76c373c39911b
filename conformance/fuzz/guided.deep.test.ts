import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { explore } from './guided/explore.ts';
import { guidedTargets } from './guided/targets.ts';

/** Fails only for an input that begins with six exact bytes, each of which is a branch of its own. */
function openLock(bytes: Buffer): void {
  if (bytes[0] !== 0x7b) return;
  if (bytes[1] !== 0x00) return;
  if (bytes[2] !== 0x3c) return;
  if (bytes[3] !== 0x7f) return;
  if (bytes[4] !== 0x0a) return;
  if (bytes[5] !== 0x80) return;
  throw new RangeError('the lock is open');
}

describe('the short form of npm run test:fuzz:guided', () => {
  test('an input that only branch after branch leads to is found', async () => {
    const target = { seeds: async () => [Buffer.from('{"a":1,"b":2}')], run: openLock, isRefused: () => false, isOnLoop: false };
    const found = await explore(target, {
      seed: 7,
      isOver: (inputs) => inputs > 100_000,
      isOurs: (url) => url === import.meta.url,
    });
    assert.match(found.findings[0]?.problem ?? '', /the lock is open/);
    assert.ok(found.corpus > 4, 'each branch gave a file');
  });

  // Jobs of threads may loop, which only the end of their thread stops: the long form does that.
  for (const [name, target] of Object.entries(guidedTargets).filter(([, { isOnLoop }]) => isOnLoop))
    test(`${name}: no input throws an error of its own or blocks an event loop`, async () => {
      const found = await explore(target, { seed: 1, isOver: (inputs) => inputs > 160 });
      assert.deepEqual(found.findings, []);
      assert.ok(found.inputs > 160);
    });
});
