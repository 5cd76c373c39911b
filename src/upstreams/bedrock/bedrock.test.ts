import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Frame } from '../../platform/frames.ts';
import { applyJsonEdits } from '../../platform/json/json-edits.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import type { AccountFacts } from '../account-facts.ts';
import { bedrock } from './bedrock.ts';

const sonnet45 = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const facts: AccountFacts = { region: 'eu-central-1' };

describe('paths of Bedrock', () => {
  const generate = (upstreamModel: string, own: AccountFacts = facts, is?: string) =>
    bedrock.locate({ dialect: 'anthropic-messages', operation: 'generate', upstreamModel, ...(is === undefined ? {} : { is }) }, own);

  test('older Claude models and profiles of applications are invoked, newer ones have Messages', () => {
    assert.equal(generate(sonnet45), '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke');
    assert.equal(generate('us.anthropic.claude-opus-5'), '/anthropic/v1/messages');
    assert.equal(generate('anthropic.claude-sonnet-4-5-20250929-v1:0', { ...facts, endpoint: 'mantle' }), '/anthropic/v1/messages');
    const arn = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc12xyz';
    assert.equal(generate(arn, facts, 'claude-opus-5'), `/model/${encodeURIComponent(arn)}/invoke`);
  });

  test('streams have a path of their own, and tokens are counted by the name without the regions', () => {
    const route = { dialect: 'anthropic-messages', upstreamModel: sonnet45 } as const;
    assert.match(bedrock.locate({ ...route, operation: 'generate', framing: 'sse' }, facts) ?? '', /invoke-with-response-stream$/);
    const counting = bedrock.locate({ ...route, operation: 'count-tokens' }, facts);
    assert.equal(counting, '/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens');
    const arn = {
      ...route,
      upstreamModel: 'arn:aws:bedrock:us-east-1:1:application-inference-profile/a',
      operation: 'count-tokens',
    } as const;
    assert.equal(bedrock.locate(arn, facts), undefined);
  });

  test('the dialects follow from the maker of the model', () => {
    assert.deepEqual(bedrock.dialectsOf?.(sonnet45, facts), ['anthropic-messages']);
    assert.deepEqual(bedrock.dialectsOf?.('openai.gpt-oss-20b-1:0', facts), ['openai-responses', 'openai-chat']);
    assert.deepEqual(bedrock.dialectsOf?.('claude-opus-5', facts), ['anthropic-messages']);
    assert.deepEqual(bedrock.dialectsOf?.('mistral.mistral-large', { ...facts, endpoint: 'mantle' }), ['openai-chat']);
  });

  test('addresses have the region, and the end of its partition', () => {
    assert.equal(bedrock.addressOf?.(facts), 'https://bedrock-runtime.eu-central-1.amazonaws.com');
    assert.equal(bedrock.addressOf?.({ region: 'cn-north-1' }), 'https://bedrock-runtime.cn-north-1.amazonaws.com.cn');
    assert.equal(bedrock.addressOf?.({ region: 'eusc-de-east-1' }), 'https://bedrock-runtime.eusc-de-east-1.amazonaws.eu');
    assert.equal(bedrock.addressOf?.({ region: 'us-east-1', endpoint: 'mantle' }), 'https://bedrock-mantle.us-east-1.api.aws');
    assert.match(bedrock.checkFacts?.({}, undefined) ?? '', /region is required/);
    const other = 'https://bedrock-runtime.us-east-1.amazonaws.com';
    assert.match(bedrock.checkFacts?.(facts, other) ?? '', /of the region us-east-1, and region is eu-central-1/);
    assert.equal(bedrock.checkFacts?.(facts, undefined), undefined);
  });
});

describe('requests for InvokeModel', () => {
  const shape = (text: string, beta?: string, own = facts) => {
    const bytes = Buffer.from(text);
    const route = { dialect: 'anthropic-messages', operation: 'generate', upstreamModel: sonnet45 } as const;
    const headers = beta === undefined ? {} : { 'anthropic-beta': beta };
    const changes = bedrock.reshape?.({ route, body: JSON.parse(text) as JsonObject, bytes, headers }, own);
    return { ...changes, text: applyJsonEdits(bytes, changes?.edits ?? []).toString() };
  };

  test('have a version instead of the model and the stream; all other bytes stay', () => {
    const { text } = shape('{"model":"m", "max_tokens" : 9,\n"stream":true,"messages":[ ]}');
    assert.equal(text, '{"anthropic_version":"bedrock-2023-05-31","max_tokens" : 9,\n"messages":[ ]}');
  });

  test('have the known beta flags in the body, and each other one is named to the client', () => {
    const asked = 'interleaved-thinking-2025-05-14,advanced-tool-use-2025-11-20,prompt-caching-2024-07-31';
    const { text, headers, notes = [] } = shape('{"model":"m","messages":[]}', asked);
    assert.deepEqual((JSON.parse(text) as JsonObject).anthropic_beta, ['interleaved-thinking-2025-05-14', 'tool-search-tool-2025-10-19']);
    assert.equal(headers?.['anthropic-beta'], undefined);
    assert.deepEqual(
      notes.map(({ kind, field }) => `${kind} ${field}`),
      ['adapted anthropic-beta advanced-tool-use-2025-11-20', 'dropped anthropic-beta prompt-caching-2024-07-31'],
    );
    const { text: allowed } = shape('{"model":"m","messages":[]}', asked, { ...facts, betas: ['prompt-caching-2024-07-31'] });
    assert.match(allowed, /prompt-caching-2024-07-31/);
  });

  test('lose the member of a tool that is refused', () => {
    const { text, notes } = shape('{"model":"m","tools":[{"name":"a","eager_input_streaming":true},{"name":"b"}],"messages":[]}');
    assert.equal(text, '{"anthropic_version":"bedrock-2023-05-31","tools":[{"name":"a"},{"name":"b"}],"messages":[]}');
    assert.equal(notes?.[0]?.field, 'tools.0.eager_input_streaming');
  });
});

describe('answers of Bedrock', () => {
  const frame = (event: string, data: string): Frame => new Frame(Buffer.from('x'), event, data);

  test('a chunk becomes the event that it has in it, and an exception an error event', () => {
    const inner = '{"type":"message_start","message":{}}';
    const chunk = bedrock.reframe?.(
      frame('chunk', JSON.stringify({ bytes: Buffer.from(inner).toString('base64'), p: 'abc' })),
      'anthropic-messages',
    );
    assert.equal(chunk?.bytes.toString(), `event: message_start\ndata: ${inner}\n\n`);
    const failed = bedrock.reframe?.(frame('exception:throttlingException', '{"message":"slow down"}'), 'anthropic-messages');
    assert.equal(failed?.data, '{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}');
  });

  const refuse = (status: number, kind: string, message: string) =>
    bedrock.readRefusal?.(
      { status, headers: { 'x-amzn-errortype': `${kind}:http://x/` }, body: Buffer.from(JSON.stringify({ message })), model: sonnet45 },
      'anthropic-messages',
    );

  test('refusals have the class of their kind, and the operator the next step', () => {
    assert.equal(refuse(429, 'ThrottlingException', 'slow')?.code, 'upstream_rate_limited');
    assert.equal(refuse(403, 'AccessDeniedException', 'no access')?.code, 'upstream_permission_denied');
    assert.equal(refuse(400, 'ValidationException', 'The provided model identifier is invalid.')?.code, 'upstream_model_not_found');
    assert.equal(refuse(400, 'ValidationException', 'max_tokens: too high')?.code, 'upstream_refused_request');
    const skewed = refuse(403, 'InvalidSignatureException', 'Signature expired: 20261122T220000Z is now earlier than 20261122T220500Z');
    assert.equal(skewed?.code, 'upstream_credentials_rejected');
    assert.match(skewed?.internal ?? '', /the clock of this machine is wrong/);
    const body = Buffer.from('{"error":{"message":"m"}}');
    const own = bedrock.readRefusal?.({ status: 400, headers: {}, body, model: sonnet45 }, 'openai-chat');
    assert.equal(own, undefined, 'an error in the form of its dialect');
  });

  test('only a refusal of keys lets them be fetched again', () => {
    const says = (status: number, kind: string) => bedrock.refusesCredential?.(status, { 'x-amzn-errortype': kind });
    assert.equal(says(403, 'ExpiredTokenException'), true);
    assert.equal(says(403, 'AccessDeniedException'), false);
    assert.equal(says(401, ''), true);
  });
});
