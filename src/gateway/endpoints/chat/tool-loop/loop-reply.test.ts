import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chatDialects } from '../../../../dialects/registry.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { createTranslationNotes } from '../../../../inference/translation-notes.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import type { ClientReply } from '../../../replies/client-reply.ts';
import { createFakeExchange } from '../../../attempts/exchange/testing/fake-exchange.ts';
import { createEventSink } from '../../../replies/connection-sink.ts';
import { createEventForm } from '../reply-form.ts';
import { LoopReply } from './loop-reply.ts';

const { events } = chatDialects['openai-responses'];
assert.ok(events);
const dialect = { ...chatDialects['openai-responses'], events };
const broken = new GatewayError('upstream_connection_error', 'The second round broke.');

function start(framing: 'sse' | undefined) {
  const { response } = createFakeExchange({ dialect, framing });
  const stored: JsonObject[] = [];
  const reply = new LoopReply({
    dialect,
    form: createEventForm(dialect.events),
    sink: createEventSink({ callId: 'req_1', response: response as unknown as ClientReply, voice: dialect.voice, framing }),
    framing,
    nowMs: () => 0,
    keep: (one) => {
      stored.push(one);
      return new Promise(() => {});
    },
    notes: [{ kind: 'adapted', field: 'input', reason: 'it was long' }],
    writing: {
      requestId: 'req_1',
      requestedModel: 'm',
      request: {},
      replyId: 'resp_1',
      createdAtMs: 0,
      nowMs: () => 2000,
      inputTokensEstimate: 1,
      newId: (prefix) => `${prefix}_1`,
      notes: createTranslationNotes(dialect.codec.fieldNames, false),
    },
  });
  reply.setHeaders({ 'x-gateway-warning': 'dropped top_k (unknown)' });
  reply.push([
    { type: 'started' },
    { type: 'block-started', index: 0, block: { kind: 'text' } },
    { type: 'delta', index: 0, text: 'Half a ' },
    { type: 'delta', index: 0, text: 'word' },
  ]);
  return { reply, response, stored };
}

test('a reply of several rounds that breaks is stored as failed with its output so far, and nothing waits for that', () => {
  const { reply, response, stored } = start('sse');
  reply.fail(broken);
  assert.ok(response.writableEnded);
  assert.deepEqual([stored.length, stored[0]?.id, stored[0]?.status], [1, 'resp_1', 'failed']);
  assert.match(JSON.stringify(stored[0]?.output), /"text":"Half a word"/);
  assert.match(JSON.stringify(stored[0]?.error), /second round broke/);
});

test('a whole reply that breaks is not stored, because its client has no id of it', () => {
  const { reply, stored } = start(undefined);
  reply.fail(broken);
  assert.deepEqual(stored, []);
});

test('the header has the notes from before the first round and those of the round', () => {
  const { response } = start('sse');
  assert.equal(response.headers['x-gateway-warning'], 'dropped top_k (unknown), adapted input (it was long)');
});
