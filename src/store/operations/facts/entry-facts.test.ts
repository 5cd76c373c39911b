import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { describeCall } from '../../../billing/calls/call-fact.ts';
import type { CallEntry } from '../../../billing/ledger/call-entry.ts';
import { decodeEntry, encodeEntry } from '../../../billing/ledger/entry-json.ts';
import { entries } from '../../../billing/ledger/testing/entry-arbitrary.ts';
import { CallShapes } from '../call-shapes.ts';
import { EntryFacts } from './entry-facts.ts';

/** Texts of entries as a ledger has them, with the templates of their shapes. */
function createLedger() {
  const shapes = new CallShapes();
  const templates = new Map<number, string>();
  return {
    templates,
    database: { first: async (_sql: string, id: unknown) => ({ template: templates.get(Number(id)) ?? null }) },
    book: (entry: CallEntry): readonly [callId: string, text: string, shape: number | undefined] => {
      const text = Buffer.from(encodeEntry(entry));
      const shaped = shapes.split('', entry.callId, text);
      if (shaped === undefined) return [entry.callId, text.toString(), undefined];
      templates.set(shaped.shape.id, shaped.shape.template.toString());
      return [entry.callId, shaped.values.toString(), shaped.shape.id];
    },
  };
}

const [sample] = fc.sample(entries, { numRuns: 1, seed: 7 });
assert.ok(sample);
const { parentCallId: _part, ...ownCall } = sample;
const plain: CallEntry = { ...ownCall, requestedModel: 'm', servedModel: 'm-1', firstByteMs: 41.6, tags: 'env=prod' };

/** The facts of the third of three entries of one kind. */
async function readThird(entry: CallEntry) {
  const ledger = createLedger();
  const facts = new EntryFacts();
  ledger.book({ ...entry, callId: 'first', firstByteMs: 7 });
  ledger.book({ ...entry, callId: 'second', firstByteMs: 8 });
  const [callId, text, shape] = ledger.book({ ...entry, callId: 'third' });
  assert.notEqual(shape, undefined, 'the entries share a shape');
  await facts.load(ledger.database, [shape ?? 0]);
  return { fact: facts.factOf(callId, text, shape), ledger, callId, text, shape };
}

test('the facts of an entry are those of its whole text, whatever it shares with others', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(entries, { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat({ max: 2 }), { maxLength: 12 }),
      async (some, order) => {
        const ledger = createLedger();
        const facts = new EntryFacts();
        for (const [index, which] of order.entries()) {
          const entry = some[which % some.length];
          assert.ok(entry);
          for (const each of [entry, { ...entry, firstByteMs: index / 3, tags: `n=${index}"\\` }]) {
            const [callId, text, shape] = ledger.book(each);
            if (shape !== undefined) await facts.load(ledger.database, [shape]);
            assert.deepEqual(facts.factOf(callId, text, shape), describeCall(decodeEntry(JSON.parse(encodeEntry(each)))));
          }
        }
      },
    ),
  );
});

test('entries of one shape have the same object of names, so that their numbers are found once', async () => {
  const { fact, ledger, callId, text, shape } = await readThird(plain);
  const facts = new EntryFacts();
  await facts.load(ledger.database, [shape ?? 0]);
  assert.equal(facts.factOf(callId, text, shape).names, facts.factOf(callId, text, shape).names);
  assert.deepEqual({ firstByteMs: fact.firstByteMs, tags: fact.tags }, { firstByteMs: 42, tags: 'env=prod' });
});

test('a model whose name looks like a value keeps its name', async () => {
  const { fact } = await readThird({ ...plain, requestedModel: 'm":5,"x":"' });
  assert.equal(fact.names.model?.value, 'm":5,"x":"');
});

test('the round of a part is read from its own id', async () => {
  const part = { ...plain, parentCallId: 'third', callId: 'third.1' };
  const ledger = createLedger();
  const facts = new EntryFacts();
  for (const callId of ['third.1', 'third.2']) ledger.book({ ...part, callId });
  const [callId, text, shape] = ledger.book({ ...part, callId: 'third.3.tools' });
  await facts.load(ledger.database, [shape ?? 0]);
  assert.deepEqual([shape === undefined, facts.factOf(callId, text, shape).isRound], [false, false]);
});

test('damaged values and a missing shape are errors', async () => {
  const { ledger, callId, text, shape } = await readThird(plain);
  const facts = new EntryFacts();
  await facts.load(ledger.database, [shape ?? 0, 99]);
  assert.throws(() => facts.factOf(callId, `${text}5`, shape), { kind: 'corrupt' });
  assert.throws(() => facts.factOf(callId, `${text}5\x1f`, shape), { kind: 'corrupt' });
  assert.throws(() => facts.factOf(callId, text, 99), { kind: 'corrupt' });
});
