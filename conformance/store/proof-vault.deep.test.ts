import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadProofKey } from '../../src/gateway/endpoints/chat/proofs/load-proof-key.ts';
import { createProofVault } from '../../src/gateway/endpoints/chat/proofs/proof-vault.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { silentLogger } from '../../src/platform/log.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';

test('proofs survive the process in the embedded store, for their user alone, and no file of it shows them', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'weir-vault-'));
  context.after(() => rm(directory, { recursive: true, force: true }));
  const open = async () => {
    const store = await openSqliteStore({ path: join(directory, 'weir.sqlite') });
    const key = loadProofKey({ path: join(directory, 'proof-vault.key') });
    const vault = createProofVault({ store, key, clock: systemClock, logger: silentLogger });
    return { store, vault };
  };
  const turn = {
    callIds: ['call-canary-1', 'call-canary-2'],
    reasoning: [
      {
        kind: 'reasoning' as const,
        text: ['thought-canary'],
        proof: { origin: 'anthropic', blob: `blob-canary/${'Zm9v'.repeat(50_000)}` },
      },
    ],
    callProofs: new Map([['call-canary-2', { origin: 'gemini', blob: 'signature-canary' }]]),
  };

  const first = await open();
  first.vault.remember('user-canary', turn);
  await first.vault.close();
  for (const name of await readdir(directory)) {
    const content = await readFile(join(directory, name), 'latin1');
    for (const secret of ['canary', 'Zm9vZm9v', 'anthropic']) assert.ok(!content.includes(secret), `${secret} in ${name}`);
  }
  await first.store.close();

  const second = await open();
  assert.deepEqual((await second.vault.recall('user-canary', ['call-canary-2'])).get('call-canary-2'), turn);
  assert.equal((await second.vault.recall('somebody', ['call-canary-1', 'call-canary-2'])).size, 0);
  await second.vault.close();
  await second.store.close();
});
