import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Refusal } from '../../audit/refusals/refusal.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { silentLogger } from '../../platform/log.ts';
import { createRefusalSink } from './refusal-sink.ts';
import { beginFakeCall, fakeEntry, tellFakeCall } from './testing/fake-call.ts';
import { createTelemetry } from './telemetry.ts';

function follow(admits: () => boolean = () => true) {
  const rows: Refusal[] = [];
  let described = 0;
  const clock = { nowMs: () => 1000, monotonicMs: () => 0 };
  const telemetry = createTelemetry({
    clock,
    logger: silentLogger,
    refusals: createRefusalSink({
      writer: { admits, add: (row) => void rows.push(row) },
      clock,
      isListed: (model) => model === 'gpt-5',
      addressOf: ({ socket }) => {
        described += 1;
        return socket.remoteAddress;
      },
      callerOf: () => undefined,
    }),
  });
  return { telemetry, rows, described: () => described };
}

test('a refused call is described, and calls that were sent to an upstream are not', () => {
  const { telemetry, rows } = follow();
  tellFakeCall(telemetry, fakeEntry);
  tellFakeCall(telemetry, { ...fakeEntry, end: 'failed' }, 502);
  const known = beginFakeCall(telemetry);
  known.report.caller = { id: 'key_1', userName: 'alice', name: 'laptop' };
  known.report.facts = { requestedModel: 'gpt-5', stream: false };
  known.report.refused(new GatewayError('rate_limited', 'this key has used its 60 requests per minute'));
  known.reply.close(429);
  const unknown = beginFakeCall(telemetry);
  unknown.report.facts = { requestedModel: 'my secret text', stream: false };
  unknown.report.refused(new GatewayError('model_not_found', 'the model "my secret text" does not exist'));
  unknown.reply.close(undefined);
  telemetry.flush();
  const common = { atMs: 1000, address: '192.0.2.7', interface: 'openai-chat', path: '/v1/chat/completions', requestId: 'req_1' };
  assert.deepEqual(rows, [
    {
      ...common,
      code: 'rate_limited',
      status: 429,
      message: 'this key has used its 60 requests per minute',
      keyId: 'key_1',
      userName: 'alice',
      keyName: 'laptop',
      model: 'gpt-5',
    },
    {
      ...common,
      code: 'model_not_found',
      status: 404,
      message: 'the model "…" does not exist',
      keyId: undefined,
      userName: undefined,
      keyName: undefined,
      model: undefined,
    },
  ]);
});

test('a refusal beyond the sample is not even described', () => {
  const { telemetry, rows, described } = follow(() => false);
  for (let each = 0; each < 10_000; each += 1) {
    const { report, reply } = beginFakeCall(telemetry);
    report.refused(new GatewayError('invalid_api_key', 'no'));
    reply.close(401);
  }
  telemetry.flush();
  assert.deepEqual([rows.length, described()], [0, 0]);
});
