import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { GatewayError } from '../../inference/gateway-error.ts';
import { silentLogger } from '../../platform/log.ts';
import { createFakeIdempotencyStore } from './testing/fake-idempotency-store.ts';
import type { IdempotencyClaim } from './idempotency-claim.ts';
import { createIdempotency } from './idempotency.ts';

const processes = 3;
const retentionMs = 24 * 3_600_000;
const leaseMs = 30_000;

type Step =
  | { readonly type: 'ask'; readonly process: number; readonly name: string; readonly body: string }
  | { readonly type: 'end'; readonly name: string; readonly how: 'keep' | 'spend' | 'release' }
  | { readonly type: 'die'; readonly process: number }
  | { readonly type: 'wait'; readonly ms: number };

const name = fc.constantFrom('a', 'b');
const process = fc.nat(processes - 1);
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('ask' as const), process, name, body: fc.constantFrom('x', 'x', 'y') }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('end' as const), name, how: fc.constantFrom('keep', 'keep', 'spend', 'release') }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('die' as const), process }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.constantFrom(1, leaseMs, retentionMs) }) },
);

/** The state of one key in a perfect gateway. */
type Model = {
  state: 'free' | 'open' | 'kept' | 'spent';
  body: string;
  requestId: string;
  process: number;
  claim: IdempotencyClaim | undefined;
  takenAtMs: number;
};

/** The expected outcome of a request. */
function expect(model: Model, request: { readonly body: string; readonly nowMs: number }): string {
  if (model.state === 'free' || request.nowMs >= model.takenAtMs + retentionMs) return 'claim';
  if (request.body !== model.body) return 'idempotency_conflict';
  if (model.state === 'kept') return `kept ${model.requestId}`;
  if (model.state === 'spent') return 'idempotency_spent';
  // A dead process is detected when its lease ends; a running one holds its key in memory.
  return request.nowMs >= model.takenAtMs + leaseMs && model.claim === undefined ? 'idempotency_spent' : 'idempotency_in_progress';
}

/**
 * Runs one history and compares every outcome with the model. Time stops while running processes hold keys, because
 * they would renew their leases.
 */
async function play(history: readonly Step[]): Promise<number> {
  const store = createFakeIdempotencyStore();
  const world = { nowMs: 1_000_000, requests: 0, claims: 0 };
  const start = (owner: string) =>
    createIdempotency({
      store,
      key: Buffer.alloc(32, 1),
      clock: { nowMs: () => world.nowMs, monotonicMs: () => 0 },
      logger: silentLogger,
      settings: () => ({ retentionHours: 24, totalBytesMax: 1e9, apiKeyBytesMax: 1e9, replyBytesMax: 100, waitMs: 0 }),
      owner,
    });
  const running = Array.from({ length: processes }, (_, index) => start(`process_${index}`));
  const models = new Map<string, Model>();
  const modelOf = (of: string): Model => {
    const fresh: Model = { state: 'free', body: '', requestId: '', process: 0, claim: undefined, takenAtMs: 0 };
    const model = models.get(of) ?? fresh;
    models.set(of, model);
    return model;
  };
  const ask = async (step: Extract<Step, { type: 'ask' }>): Promise<void> => {
    const model = modelOf(step.name);
    const requestId = `req_${(world.requests += 1)}`;
    const request = { keyId: 'k', name: step.name, digest: Buffer.from(step.body), requestId, signal: new AbortController().signal };
    const expected = expect(model, { body: step.body, nowMs: world.nowMs });
    try {
      const result = await (running[step.process] ?? assert.fail()).begin(request);
      assert.equal('kept' in result ? `kept ${result.kept.requestId}` : 'claim', expected);
      if ('kept' in result) return;
      world.claims += 1;
      Object.assign(model, {
        state: 'open',
        body: step.body,
        requestId,
        process: step.process,
        claim: result.claim,
        takenAtMs: world.nowMs,
      });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      assert.equal(error.code, expected);
    }
  };
  for (const step of history) {
    if (step.type === 'ask') await ask(step);
    else if (step.type === 'end') {
      const model = modelOf(step.name);
      if (model.claim === undefined) continue;
      await (step.how === 'keep' ? model.claim.keep({ status: 200, headers: {} }) : model.claim[step.how]());
      Object.assign(model, { state: step.how === 'keep' ? 'kept' : step.how === 'spend' ? 'spent' : 'free', claim: undefined });
    } else if (step.type === 'die') {
      await running[step.process]?.close();
      running[step.process] = start(`process_${step.process}_${(world.requests += 1)}`);
      for (const model of models.values()) if (model.process === step.process) model.claim = undefined;
    } else if ([...models.values()].every(({ claim }) => claim === undefined)) world.nowMs += step.ms;
  }
  await Promise.all(running.map((each) => each.close()));
  return world.claims;
}

test('one key is one request with one answer, whatever is sent, ended, killed and awaited', async () => {
  let histories = 0;
  let claims = 0;
  const history = fc.array(steps, { maxLength: 40 });
  const property = fc.asyncProperty(history, async (each) => {
    histories += 1;
    claims += await play(each);
  });
  await fc.assert(property, { numRuns: 400 });
  assert.ok(claims > histories, `only ${claims} requests were let through`);
});
