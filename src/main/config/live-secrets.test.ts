import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { systemClock } from '../../platform/clock.ts';
import { createSecretBook } from '../../upstreams/credentials/secrets/secret-book.ts';
import { createLiveSettings } from './live-settings.ts';

const settle = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 10));

test('a running gateway takes new values and new references, and keeps both while its file is invalid', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-live-secrets-'));
  const path = join(directory, 'weir.yaml');
  const upstream = (reference: string): string => `upstreams:\n  one: { vendor: openai, apiKey: "${reference}" }\n`;
  const files = new Map([['/one', 'first']]);
  let nowMs = 0;
  const book = createSecretBook({
    tickMs: 1,
    means: {
      ask: () => Promise.reject(new Error('none')),
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
      variable: () => undefined,
      homeDirectory: '/',
      readFile: (name) => (files.has(name) ? Promise.resolve(files.get(name) ?? '') : Promise.reject(new Error('none'))),
      run: () => Promise.reject(new Error('none')),
    },
  });
  const logged: string[] = [];
  const log = (_data: unknown, message?: unknown): void => void logged.push(String(message));
  book.use(['file:/one'], {});
  await settle();
  writeFileSync(path, upstream('${file:/one}'));
  const live = createLiveSettings({
    path,
    variable: () => undefined,
    secrets: book,
    simulated: undefined,
    clock: systemClock,
    logger: { debug: log, info: log, warn: log, error: log },
    pollMs: 86_400_000,
  });
  const keys = (): readonly (string | undefined)[] => live.settings().routing.upstreams.map(({ apiKey }) => apiKey);
  try {
    assert.deepEqual(keys(), ['first']);
    assert.equal(live.look(), false, 'nothing has changed');
    const before = live.settings().routing.upstreams[0];
    files.set('/one', 'second');
    nowMs += 1000;
    await settle();
    assert.equal(live.look(), true);
    assert.deepEqual(keys(), ['second']);
    assert.equal(live.settings().routing.upstreams[0]?.client.base, before?.client.base, 'connections stay');

    writeFileSync(path, `${upstream('${file:/one}')}wrong: 1\n`);
    assert.equal(live.look(), false);
    files.set('/one', 'third');
    nowMs += 1000;
    await settle();
    writeFileSync(path, upstream('${file:/one}'));
    assert.equal(live.look(), true);
    assert.deepEqual(keys(), ['third']);

    files.set('/two', 'other');
    writeFileSync(path, upstream('${file:/two}'));
    assert.equal(live.look(), false, 'it is not read yet');
    await settle();
    assert.equal(live.look(), true);
    assert.deepEqual(keys(), ['other']);
    assert.deepEqual(
      logged.filter((message) => message.includes('failed')),
      ['configuration reload failed'],
    );
  } finally {
    await live.close();
    await book.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
