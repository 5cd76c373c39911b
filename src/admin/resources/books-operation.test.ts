import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Type } from 'typebox';

import type { ControlStore } from '../../control/nodes/node-state.ts';
import { record } from '../contract/values.ts';
import type { AdminContext } from '../operation.ts';
import { booksOperation } from './books-operation.ts';

type Control = { readonly control: ControlStore };

const nowMs = Date.parse('2026-11-28T10:00:00Z');

function contextWith(listControlReports: () => Promise<unknown>): AdminContext<Control> {
  // Of the services, only the reports of gateways are read.
  return { services: { control: { listControlReports } }, nowMs: () => nowMs } as unknown as AdminContext<Control>;
}

const operationWith = (handle: () => object) =>
  booksOperation({
    id: 'things.get',
    method: 'GET',
    path: '/thing',
    summary: 'A thing',
    access: 'usage:read',
    reply: record({ spent: Type.Integer() }, 'A thing.'),
    handle: async () => ({ body: { spent: 5, ...handle() } }),
  });
const input = { params: {}, query: {}, body: undefined };
const inJournals = async () => [{ report: { journalPending: 3 } }, { report: { journalPending: 4 } }];

test('an answer from the books says when they were read, and how many calls the journals of gateways still have', async () => {
  const { run, schemas } = operationWith(() => ({}));
  assert.deepEqual(await run(input, contextWith(inJournals)), {
    body: { spent: 5, as_of: '2026-11-28T10:00:00.000Z', pending_calls: 7 },
  });
  assert.deepEqual(Object.keys((schemas.reply as unknown as { readonly properties: object }).properties), [
    'spent',
    'as_of',
    'pending_calls',
  ]);
});

test('calls that the operation itself waits for are added, and its own time of reading stays', async () => {
  const { run } = operationWith(() => ({ as_of: '2026-11-28T09:59:58.000Z', pending_calls: 2 }));
  assert.deepEqual(await run(input, contextWith(inJournals)), {
    body: { spent: 5, as_of: '2026-11-28T09:59:58.000Z', pending_calls: 9 },
  });
});

test('nothing is changed if the journals cannot be counted, so that no change is answered with an error', async () => {
  let runs = 0;
  const { run } = operationWith(() => ({ runs: (runs += 1) }));
  await assert.rejects(
    run(
      input,
      contextWith(() => Promise.reject(new Error('the database is down'))),
    ),
    /is down/,
  );
  assert.equal(runs, 0);
});
