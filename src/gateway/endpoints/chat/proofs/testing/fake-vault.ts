import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { TestContext } from 'node:test';

import type { Logger } from '../../../../../platform/log.ts';
import { createFakeProofStore } from './fake-proof-store.ts';
import type { ProofVaultLimits } from '../proof-vault-limits.ts';
import { createProofVault } from '../proof-vault.ts';
import type { VaultedTurn } from '../vaulted-turn.ts';

/** A vault on a store in memory. The test moves its timers and its clock. */
export function setUpVault(context: TestContext, limits: Partial<ProofVaultLimits> = {}) {
  context.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const store = createFakeProofStore();
  const key = randomBytes(32);
  const logged: string[] = [];
  const note = (level: string) => (_members: unknown, message: string) => void logged.push(`${level}: ${message}`);
  const logger = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') } as Logger;
  let nowMs = 1_767_225_600_000;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const open = (changes: { key?: Buffer } = {}) => createProofVault({ store, key, clock, logger, limits, ...changes });
  const vault = open();
  return {
    store,
    logged,
    vault,
    open,
    /** Advances time, and runs everything that this starts. */
    pass: async (ms: number) => {
      nowMs += ms;
      context.mock.timers.tick(ms);
      for (let round = 0; round < 10; round += 1) await setImmediate();
    },
    /** Advances only the clock, as if no timer had fired yet. */
    age: (ms: number) => (nowMs += ms),
  };
}

/** A turn with reasoning, and with a proof on its last call. */
export function createTurn(callIds: readonly string[], blob = 'c2lnbmF0dXJl', origin = 'anthropic'): VaultedTurn {
  return {
    callIds,
    reasoning: [{ kind: 'reasoning', text: ['First.', 'Then 模型.'], proof: { origin, blob }, itemId: 'rs_1' }],
    callProofs: new Map([[callIds.at(-1) ?? '', { origin, blob: `${blob}/call` }]]),
  };
}
