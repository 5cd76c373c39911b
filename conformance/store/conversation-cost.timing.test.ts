import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { createResponse, setUpConversations } from './conversations/set-up.ts';
import type { Conversations } from '../../src/conversations/response-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { measureBest } from '../support/measure-best.ts';

/** The full measurement has 100,000 others and 10,000 turns; an ordinary run of the suite uses fewer. */
const large = process.env['WEIR_MEASURE'] !== undefined;
const others = large ? [10_000, 100_000] : [1000, 10_000];
const turns = large ? 10_000 : 1500;

const kinds = ['save', 'read', 'find'] as const;

/** The time without interference: the tenth percentile. */
const typical = (values: readonly number[]): number => values.toSorted((left, right) => left - right)[Math.floor(values.length / 10)] ?? 0;

async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function saveOthers(conversations: Conversations, from: number, to: number): Promise<void> {
  for (let next = from; next < to; next += 500) {
    const ids = Array.from({ length: Math.min(500, to - next) }, (_, index) => `other_${next + index}`);
    await Promise.all(ids.map((id) => conversations.saveResponse(createResponse(id, { userName: `user_${id.slice(-2)}` }))));
  }
}

test('a turn costs only its own context, whatever else is stored and however long its unread chain is', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'weir-cost-'));
  context.after(() => rm(directory, { recursive: true, force: true }));
  const store = await openSqliteStore({ path: join(directory, 'weir.sqlite') });
  context.after(() => store.close());
  const { conversations } = setUpConversations(store);

  /** A chain of 20 turns: the time of turns that read all of it and then append to it, and the time of its look-ups. */
  const measureChain = async (name: string) => {
    const reads: number[] = [];
    const saves: number[] = [];
    const finds: number[] = [];
    for (let turn = 0; turn < 60; turn += 1) {
      const previous = turn % 20 === 0 ? {} : { previousResponseId: `${name}_${turn - 1}` };
      saves.push(await time(() => conversations.saveResponse(createResponse(`${name}_${turn}`, previous))));
      reads.push(await time(() => conversations.readChain('anna', `${name}_${turn}`)));
      finds.push(await time(() => conversations.findItems('anna', [`in_${name}_${turn}`])));
    }
    return { save: typical(saves), read: typical(reads), find: typical(finds) };
  };
  const [few = 0, many = 0] = others;
  await saveOthers(conversations, 0, few);
  const withFew = await measureChain('few');
  await saveOthers(conversations, few, many);
  let chains = 0;
  const hasGrown = (kind: 'save' | 'read' | 'find', cost: typeof withFew): boolean => cost[kind] >= 3 * withFew[kind] + 1;
  const withMany = await measureBest(
    () => measureChain(`many${(chains += 1)}`),
    (cost) => kinds.every((kind) => !hasGrown(kind, cost)),
  );
  context.diagnostic(`with ${few} others: ${JSON.stringify(withFew)} ms; with ${many}: ${JSON.stringify(withMany)} ms`);
  for (const kind of kinds) assert.ok(!hasGrown(kind, withMany), `${kind} grew`);

  const durations: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const previous = turn === 0 ? {} : { previousResponseId: `long_${turn - 1}` };
    durations.push(await time(() => conversations.saveResponse(createResponse(`long_${turn}`, previous))));
  }
  const first = typical(durations.slice(0, turns / 5));
  const last = typical(durations.slice(-turns / 5));
  const whole = await time(() => conversations.readChain('anna', `long_${turns - 1}`));
  context.diagnostic(`a chain of ${turns} turns: a turn at first ${first} ms, at last ${last} ms; reading all of it ${whole} ms`);
  assert.ok(last < 3 * first + 1, 'turns grew more expensive');

  const saved = await time(() => saveOthers(conversations, many, many + 2000));
  context.diagnostic(`2000 saves, 500 at a time: ${Math.round(2_000_000 / saved)} a second`);
});
