import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { root } from './source-files.ts';

/** The words of docs/guide/sizing.md for a bound, the file that has it, and its line there. */
const bounds: readonly (readonly [words: string, file: string, line: string])[] = [
  ['16 MB for each connection', 'store/sqlite/open-store-database.ts', 'pragma cache_size = -16384;'],
  ['20,000 that were verified', 'accounts/jwt/token-callers.ts', 'const verifiedMax = 20_000;'],
  ['10,000 that were refused', 'accounts/jwt/token-callers.ts', 'const refusedMax = 10_000;'],
  ['Keys that do not exist | 10,000', 'accounts/key-look-up.ts', 'const unknownHashesMax = 10_000;'],
  ['Billing tokens (monitor) | 1,000', 'accounts/billing-token-authenticator.ts', 'const answersMax = 1000;'],
  ['Routes of requested model names | 1,000', 'gateway/attempts/routing/routing-table.ts', 'const rememberedRoutesMax = 1000;'],
  ['Health of targets | 10,000', 'gateway/attempts/health/health-settings.ts', 'targetsMax: 10_000,'],
  ['Owners of stored replies | 20,000', 'gateway/endpoints/chat/responses/reply-owners.ts', 'const rememberedMax = 20_000;'],
  ['Reasoning proofs | 64 MB', 'gateway/endpoints/chat/proofs/proof-vault-limits.ts', 'memoryBytesMax: 64 * mebibyte,'],
  ['128 in each thread', 'gateway/endpoints/chat/schema-check/check-schema-job.ts', 'const cachedSchemasMax = 128;'],
  ['1 MB of their texts', 'gateway/endpoints/chat/schema-check/check-schema-job.ts', 'const cachedCharactersMax = 1_000_000;'],
  ['512 of up to', 'platform/http/request-head.ts', 'const knownLinesMax = 512;'],
  ['up to 512 characters', 'platform/http/request-head.ts', 'const knownValueCharactersMax = 512;'],
  ['upstream | 1,024', 'platform/http/upstream-client.ts', 'const idleConnectionsMax = 1024;'],
  ['each for 4 s', 'platform/http/upstream-client.ts', 'export const idleMs = 4_000;'],
  ['up to 10 minutes', 'platform/http/upstream-client.ts', 'export const idleMsMax = 600_000;'],
  ['64 MB of sums and 64 MB of facts', 'store/operations/usage/kept-packs.ts', 'const bytesKeptMax = 64 * 1024 * 1024;'],
  ['a million groups', 'store/operations/usage/group-table.ts', 'const numbersMax = 2 ** 21;'],
  ['1 MB for each response', 'gateway/endpoints/chat/background/event-log.ts', 'const cachedBytesMax = 1024 * 1024;'],
  ['the fair queue knows | 1,000', 'gateway/admission/overload/fair-gate.ts', 'const tenantsKeptMax = 1000;'],
  ['alerts remember | 10,000', 'alerts/watch-refusals.ts', 'const rememberedMax = 10_000;'],
  ['counted by address or token | 10,000', 'platform/allowances.ts', 'const countedMax = 10_000;'],
  ['256 MB of stored responses', 'conversations/write-queue.ts', 'const waitingBytesMax = 256 * 1024 * 1024;'],
  ['32 MB of reasoning proofs', 'gateway/endpoints/chat/proofs/proof-vault-limits.ts', 'queueBytesMax: 32 * mebibyte,'],
  ['2,000 calls whose content', 'content/keep-content.ts', 'const waitingMax = 2000;'],
  ['128 MB of bodies', 'main/assembly/content/open-content.ts', 'const memoryBytesMax = 128 * 1024 * 1024;'],
  ['16 MB of log lines', 'platform/log.ts', 'const waitingBytesMax = 16 * 1024 * 1024;'],
];

test('the guide of sizes has the bounds of caches and of waiting work that the code has', () => {
  const page = readFileSync(join(root, 'docs/guide/sizing.md'), 'utf8').replaceAll(/\s+/g, ' ');
  for (const [words, file, line] of bounds) {
    assert.ok(page.includes(words), `docs/guide/sizing.md does not say: ${words}`);
    assert.ok(readFileSync(join(root, 'src', file), 'utf8').includes(line), `src/${file} has another bound: ${line}`);
  }
});
