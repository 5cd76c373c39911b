import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import type { OpenAI } from 'openai';

import { measureBest } from '../support/measure-best.ts';
import { isLong } from '../support/scale.ts';
import { type ConversationsBench, createStoredResponse, startConversationsProgram } from './start-conversations-bench.ts';

/** The full measurement has 10,000 turns, and 100,000 other responses; an ordinary run of the suite uses fewer. */
const large = process.env['WEIR_MEASURE'] !== undefined;
const nativeTurns = large ? 10_000 : 300;
const keptTurns = large ? [100, 1000, 10_000] : [50, 300];
const others = large ? [10_000, 100_000] : [500, 2000];
const native = 'gpt-4.1';
const kept = 'claude-sonnet-4-5';

/** The time of the fastest turn: other load makes turns slower, and never faster. */
const quickest = (times: readonly number[]): number => Math.min(...times);

/** store/conversation-cost.timing shows the same of the store alone, in every run. */
const skip = !isLong && !large && 'before a release: set WEIR_LONG=1';

/** The time of a turn with the started program, including its simulated upstream. */
describe('chained turns', { skip }, () => {
  let bench: ConversationsBench;
  let client: OpenAI;
  before(async () => {
    bench = await startConversationsProgram();
    client = bench.client(bench.weir.apiKey);
  });
  after(() => bench[Symbol.asyncDispose]());

  /** Continues from a response this many times, and returns the milliseconds of each turn. */
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

  /** Puts a chain of this many small turns into the store, and returns its last id. */
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

  test('if the upstream stores the conversation, a turn costs the same at any length', async (context) => {
    const part = Math.floor(nativeTurns / 5);
    const measure = async () => {
      const times = await takeTurns(native, undefined, nativeTurns);
      // The first fifth warms up.
      return { early: quickest(times.slice(part, 2 * part)), late: quickest(times.slice(-part)) };
    };
    const isFlat = ({ early, late }: Awaited<ReturnType<typeof measure>>): boolean => late < 3 * early + 5;
    const { early, late } = await measureBest(measure, isFlat);
    context.diagnostic(
      `${nativeTurns} turns: the fastest of the second fifth took ${early.toFixed(2)} ms, of the last ${late.toFixed(2)} ms`,
    );
    assert.ok(isFlat({ early, late }), `${early} ms grew to ${late} ms`);
  });

  test('if the gateway stores the conversation, the cost of a turn grows only with its context', async (context) => {
    const lasts: string[] = [];
    for (const length of keptTurns) lasts.push(await seedChain(length));
    const grown = (keptTurns.at(-1) ?? 1) / (keptTurns[0] ?? 1);
    const measure = async (): Promise<readonly number[]> => {
      const costs: number[] = [];
      for (const last of lasts) costs.push(quickest(await takeTurns(kept, last, 7)));
      return costs;
    };
    const isLinear = ([short = 0, ...longer]: readonly number[]): boolean => (longer.at(-1) ?? 0) < 3 * grown * short + 20;
    const costs = await measureBest(measure, isLinear);
    for (const [index, length] of keptTurns.entries()) {
      const took = costs[index] ?? 0;
      context.diagnostic(
        `after ${length} turns: ${took.toFixed(1)} ms, ${((1000 * took) / (2 * length)).toFixed(1)} microseconds per item`,
      );
    }
    assert.ok(isLinear(costs), `${costs.join(' ms grew to ')} ms for ${grown} times the context`);
  });

  test('responses that others have stored do not slow a turn down', async (context) => {
    const measure = async () => ({
      native: quickest(await takeTurns(native, undefined, 30)),
      kept: quickest(await takeTurns(kept, undefined, 30)),
    });
    type Taken = Awaited<ReturnType<typeof measure>>;
    const [fewOthers = 0, manyOthers = 0] = others;
    await seedOthers(0, fewOthers);
    const few = await measure();
    await seedOthers(fewOthers, manyOthers);
    const isUnmoved = (many: Taken): boolean => many.native < 3 * few.native + 5 && many.kept < 3 * few.kept + 5;
    const many = await measureBest(measure, isUnmoved);
    const told = ({ native: ofNative, kept: ofKept }: Taken): string => `${ofNative.toFixed(2)} and ${ofKept.toFixed(2)} ms`;
    context.diagnostic(`with ${fewOthers} others ${told(few)}, with ${manyOthers} ${told(many)}`);
    assert.ok(isUnmoved(many), `${told(few)} grew to ${told(many)}`);
  });
});
