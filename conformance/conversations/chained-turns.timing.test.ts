import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import type { OpenAI } from 'openai';

import { type ConversationsBench, createStoredResponse, startConversationsBench } from './start-conversations-bench.ts';

/** The whole measurement has 10,000 turns, and 100,000 other responses; every run of the suite is content with less. */
const large = process.env['WEIR_MEASURE'] !== undefined;
const nativeTurns = large ? 10_000 : 300;
const keptTurns = large ? [100, 1000, 10_000] : [50, 300];
const others = large ? [10_000, 100_000] : [500, 2000];
const native = 'gpt-4.1';
const kept = 'claude-sonnet-4-5';

const median = (values: readonly number[]): number => values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;

/** What a turn takes against the started program, its simulated upstream included. */
describe('chained turns', () => {
  let bench: ConversationsBench;
  let client: OpenAI;
  before(async () => {
    bench = await startConversationsBench();
    client = bench.client(bench.weir.apiKey);
  });
  after(() => bench[Symbol.asyncDispose]());

  /** Goes on from a response so often, and tells what each turn took in milliseconds. */
  async function takeTurns(model: string, from: string | undefined, count: number) {
    const times: number[] = [];
    let previous = from;
    for (let turn = 0; turn < count; turn += 1) {
      const startedMs = performance.now();
      const made = await client.responses.create({
        model,
        input: `turn ${turn}`,
        ...(previous === undefined ? {} : { previous_response_id: previous }),
      });
      times.push(performance.now() - startedMs);
      previous = made.id;
    }
    return times;
  }

  /** Puts a chain of so many small turns into the store, and returns its last id. */
  async function seedChain(length: number): Promise<string> {
    const idOf = (turn: number): string => `resp_chain_${length}_${turn}`;
    for (let turn = 0; turn < length; turn += 1) {
      const id = idOf(turn);
      const made = createStoredResponse(id, 'admin');
      const says = (role: string, type: string) => ({
        id: `msg_${role}_${id}`,
        type: 'message',
        role,
        status: 'completed',
        content: [{ type, text: id }],
      });
      await bench.stored.saveResponse({
        ...made,
        ...(turn === 0 ? {} : { previousResponseId: idOf(turn - 1) }),
        input: [says('user', 'input_text')],
        response: { ...made.response, output: [says('assistant', 'output_text')] },
      });
    }
    return idOf(length - 1);
  }

  async function seedOthers(from: number, to: number): Promise<void> {
    for (let next = from; next < to; next += 250) {
      const ids = Array.from({ length: Math.min(250, to - next) }, (_, index) => `resp_other_${next + index}`);
      await Promise.all(ids.map((id) => bench.stored.saveResponse(createStoredResponse(id, `user_${id.slice(-2)}`))));
    }
  }

  test('where the upstream keeps the conversation a turn costs the same, however long that is', async (context) => {
    const times = await takeTurns(native, undefined, nativeTurns);
    const part = Math.floor(nativeTurns / 5);
    // The first fifth warms up.
    const [early, late] = [median(times.slice(part, 2 * part)), median(times.slice(-part))];
    context.diagnostic(`${nativeTurns} turns: the second fifth took ${early.toFixed(2)} ms each, the last ${late.toFixed(2)} ms`);
    assert.ok(late < 3 * early + 5, `${early} ms grew to ${late} ms`);
  });

  test('where the gateway keeps it a turn costs what its context does', async (context) => {
    const costs: number[] = [];
    for (const length of keptTurns) {
      const last = await seedChain(length);
      const took = median(await takeTurns(kept, last, 7));
      costs.push(took);
      context.diagnostic(
        `behind ${length} turns: ${took.toFixed(1)} ms, ${((1000 * took) / (2 * length)).toFixed(1)} microseconds per item`,
      );
    }
    const [short = 0, long = 0] = [costs[0], costs.at(-1)];
    const grown = (keptTurns.at(-1) ?? 1) / (keptTurns[0] ?? 1);
    assert.ok(long < 3 * grown * short + 20, `${short} ms grew to ${long} ms for ${grown} times the context`);
  });

  test('what others have stored costs a turn nothing', async (context) => {
    const taken: number[] = [];
    let stored = 0;
    for (const count of others) {
      await seedOthers(stored, count);
      stored = count;
      for (const model of [native, kept]) taken.push(median(await takeTurns(model, undefined, 30)));
    }
    const [nativeFew = 0, keptFew = 0, nativeMany = 0, keptMany = 0] = taken;
    context.diagnostic(`with ${others.join(' and ')} others: ${taken.map((each) => each.toFixed(2)).join(', ')} ms`);
    assert.ok(nativeMany < 3 * nativeFew + 5 && keptMany < 3 * keptFew + 5, taken.join(' '));
  });
});
