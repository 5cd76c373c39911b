import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { isExact, plannedUsage, priceBound } from '../support/audit.ts';
import { allModes, type FaultBench, type Mode, startFaultBench } from './fault-bench.ts';

const callsTotal = 300;

/** A generator of numbers from 0 to 1 that repeats, so that a failure can be reproduced. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

let bench: FaultBench;
before(async () => {
  bench = await startFaultBench();
});
after(() => bench[Symbol.asyncDispose]());

test(`F88, F90: ${callsTotal} simultaneous calls, of which some disconnect anywhere: no client reads another's text, and each pays its own cost`, async () => {
  const random = createRandom(20_260_102);
  const calls = Array.from({ length: callsTotal }, async (_, number) => {
    const mode = allModes[number % allModes.length] as Mode;
    const canary = `canary${number}x${Math.floor(random() * 1e9)}end`;
    const tokens = 40 + Math.floor(random() * 160);
    const leaves = random() < 0.5;
    const leaveAfterMs = random() * 900;
    const how = random() < 0.5 ? 'fin' : 'rst';
    await new Promise((resolve) => setTimeout(resolve, random() * 300));
    const { tag, call } = bench.open(mode, {
      text: canary.padEnd(50 + number, '.'),
      steer: { 'output-tokens': String(tokens), pace: 'tokensPerSecond=250;tokensPerFrame=4' },
      limitMs: 30_000,
    });
    // Every other one after its head has arrived, also on a busy machine.
    const beginning = number % 2 === 0 ? call.head.catch(() => undefined) : Promise.resolve();
    if (leaves) void beginning.then(() => setTimeout(() => call.leave(how), leaveAfterMs));
    return { mode, tag, canary, reply: await call.done };
  });
  const done = await Promise.all(calls);
  for (const { mode, tag, canary, reply } of done) {
    const seen = new Set(reply.text.replaceAll(/"\}?\}?[^“]{0,400}?"(?:text|content|delta)":\s*"/g, '').match(/canary\d+x\d+end/g) ?? []);
    seen.delete(canary);
    assert.deepEqual([...seen], [], `${mode.title} ${tag} read another's text`);
    if (reply.end === 'complete') assert.equal(reply.status, 200, reply.text);
  }
  const truths = await Promise.all(
    done
      .filter(({ reply }) => reply.status === 200)
      .map(async ({ tag, reply, mode }) => ({ mode, reply, truth: await bench.truthOf(tag) })),
  );
  assert.ok(truths.length > callsTotal / 2);
  let left = 0;
  for (const { mode, reply, truth } of truths) {
    const entry = await bench.rowOf(reply);
    const summary = `${mode.title} ${truth.tag}: ${JSON.stringify(entry.usage)}, truth ${JSON.stringify(plannedUsage(truth))}, emitted ${truth.emittedTokens}`;
    if (entry.upstreamRequestId !== undefined) assert.equal(entry.upstreamRequestId, truth.requestId, summary);
    if (reply.end === 'complete') {
      assert.equal(entry.end, 'finished', summary);
      assert.ok(isExact(entry, truth), summary);
      continue;
    }
    left += 1;
    if (entry.end === 'finished') assert.ok(isExact(entry, truth), summary);
    else assert.ok(entry.charge.amountNanoUsd <= priceBound(entry, truth), summary);
  }
  assert.ok(left > 5, `${left} disconnected in the middle`);
});

test('afterwards the gateway is healthy', () => bench.assertSound());
