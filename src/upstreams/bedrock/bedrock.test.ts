import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { UpstreamDialectId } from '../../dialects/dialect-id.ts';
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

  const reframe = (one: Frame): readonly Frame[] => bedrock.reframe?.(one, 'anthropic-messages') ?? [];

  test('a chunk becomes the event that it has in it, and an exception an error event', () => {
    const inner = '{"type":"message_start","message":{}}';
    const [chunk] = reframe(frame('chunk', JSON.stringify({ bytes: Buffer.from(inner).toString('base64'), p: 'abc' })));
    assert.equal(chunk?.bytes.toString(), `event: message_start\ndata: ${inner}\n\n`);
    const [failed] = reframe(frame('exception:throttlingException', '{"message":"slow down"}'));
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

describe('Converse', () => {
  const nova = 'us.amazon.nova-pro-v1:0';

  test('models without an interface of their own are called through it, at the runtime only', () => {
    assert.deepEqual(bedrock.dialectsOf?.(nova, facts), ['bedrock-converse']);
    assert.deepEqual(bedrock.dialectsOf?.('arn:aws:bedrock:us-east-1::foundation-model/meta.llama3-3-70b-instruct-v1:0', facts), [
      'bedrock-converse',
    ]);
    const route = { dialect: 'bedrock-converse', operation: 'generate', upstreamModel: nova } as const;
    assert.equal(bedrock.locate(route, facts), '/model/us.amazon.nova-pro-v1%3A0/converse');
    assert.equal(bedrock.locate({ ...route, framing: 'sse' }, facts), '/model/us.amazon.nova-pro-v1%3A0/converse-stream');
    assert.equal(bedrock.locate(route, { ...facts, endpoint: 'mantle' }), undefined);
  });

  test('what a family takes follows from the name, with any regions before it', () => {
    const of = (model: string) => bedrock.traitsOf(model);
    assert.equal(of('eu.amazon.nova-micro-v1:0').converse?.media.length, 0);
    assert.equal(of('global.amazon.nova-2-lite-v1:0').reasoning, 'effort');
    assert.equal(of('us.meta.llama3-3-70b-instruct-v1:0').converse?.tools, 'whole');
    assert.equal(of('meta.llama3-8b-instruct-v1:0').converse?.tools, 'none');
    assert.equal(of('mistral.mistral-7b-instruct-v0:2').converse?.systemText, false);
    assert.equal(of('qwen.qwen3-32b-v1:0').structuredOutput, true);
    assert.deepEqual([of('newco.model-v1:0').converse?.tools, of('newco.model-v1:0').structuredOutput], ['whole', false]);
  });

  test('proofs of one maker are not those of another', () => {
    assert.equal(bedrock.proofGroupOf?.(nova), 'amazon');
    assert.equal(bedrock.proofGroupOf?.('us.deepseek.r1-v1:0'), 'deepseek');
    assert.equal(bedrock.proofGroupOf?.(sonnet45), undefined);
  });

  const report = (raw: JsonObject, usage: object) => bedrock.correctUsage?.({ usage, raw, trustworthy: true }, 'bedrock-converse');

  test('a usage that agrees with its total is kept', () => {
    const usage = { inputTokens: 7, outputTokens: 4, cacheReadTokens: 1500, cacheWrite5mTokens: 600 };
    assert.deepEqual(report({ totalTokens: 2111 }, usage)?.usage, usage);
    assert.deepEqual(report({}, usage)?.usage, usage);
  });

  test('writes to the cache that were counted twice are halved', () => {
    const usage = { inputTokens: 7, outputTokens: 4, cacheWrite5mTokens: 1200 };
    assert.deepEqual(report({ totalTokens: 611 }, usage), {
      usage: { ...usage, cacheWrite5mTokens: 600 },
      raw: { totalTokens: 611 },
      trustworthy: true,
    });
  });

  test('input that includes what came from the cache is without it', () => {
    const corrected = report({ totalTokens: 5003 }, { inputTokens: 4995, outputTokens: 8, cacheReadTokens: 4993 });
    assert.deepEqual(corrected?.usage, { inputTokens: 2, outputTokens: 8, cacheReadTokens: 4993 });
  });

  test('a total that nothing explains makes the report one to distrust', () => {
    assert.equal(report({ totalTokens: 1 }, { inputTokens: 9, outputTokens: 8, cacheReadTokens: 3 })?.trustworthy, false);
  });
});

describe('guardrails', () => {
  const guardrail = { id: 'gr1', version: '3' };
  const guarded: AccountFacts = { ...facts, guardrail };

  test('every request has the guardrail: models are called where the interface takes one', () => {
    const shape = (dialect: UpstreamDialectId, upstreamModel: string, framing?: 'sse') => {
      const route = { dialect, operation: 'generate', upstreamModel, ...(framing === undefined ? {} : { framing }) } as const;
      const bytes = Buffer.from('{"messages":[]}');
      const changes = bedrock.reshape?.({ route, body: { messages: [] }, bytes, headers: {} }, guarded);
      return { ...changes, path: bedrock.locate(route, guarded), text: applyJsonEdits(bytes, changes?.edits ?? []).toString() };
    };
    const opus = shape('anthropic-messages', 'us.anthropic.claude-opus-5');
    assert.match(opus.path ?? '', /invoke$/);
    assert.equal(opus.headers?.['x-amzn-bedrock-guardrailidentifier'], 'gr1');
    assert.equal(opus.headers?.['x-amzn-bedrock-guardrailversion'], '3');
    assert.deepEqual(bedrock.dialectsOf?.('openai.gpt-oss-20b-1:0', guarded), ['openai-chat']);
    assert.equal(shape('openai-chat', 'openai.gpt-oss-20b-1:0').headers?.['x-amzn-bedrock-guardrailidentifier'], 'gr1');
    const nova = shape('bedrock-converse', 'us.amazon.nova-pro-v1:0', 'sse');
    assert.match(nova.text, /"guardrailConfig":\{"guardrailIdentifier":"gr1","guardrailVersion":"3","trace":"enabled"\}/);
  });

  test('bedrock-mantle has none, so that the configuration is refused', () => {
    assert.match(bedrock.checkFacts?.({ ...guarded, endpoint: 'mantle' }, undefined) ?? '', /no guardrails/);
  });

  const trace = { guardrail: { inputAssessment: { gr1: { contentPolicy: { filters: [{ type: 'HATE', action: 'BLOCKED' }] } } } } };
  const reply = { type: 'message', content: [{ type: 'text', text: 'Not this.' }], stop_reason: 'end_turn' };
  const members = { 'amazon-bedrock-guardrailAction': 'INTERVENED', 'amazon-bedrock-trace': trace };

  test('a refused prompt of InvokeModel is an error with its findings, a changed reply a refusal, and clients get no trace', () => {
    const refused = bedrock.reshapeReply?.({ ...reply, ...members, usage: { input_tokens: 0, output_tokens: 0 } });
    assert.match(JSON.stringify(refused), /^\{"type":"error".*"code":"content_filter","message":"Not this\.".*"HATE":\{"filtered":true\}/);
    const changed = bedrock.reshapeReply?.({ ...reply, ...members, usage: { input_tokens: 5, output_tokens: 7 } });
    assert.equal(changed?.stop_reason, 'refusal');
    const passed = bedrock.reshapeReply?.({ ...reply, 'amazon-bedrock-guardrailAction': 'NONE', 'amazon-bedrock-trace': trace });
    assert.deepEqual([passed, JSON.stringify(changed).includes('amazon-bedrock')], [reply, false]);
    assert.equal(bedrock.reshapeReply?.(reply), undefined);
  });

  test('a stream that a guardrail changed ends with a refusal, wherever it says so', () => {
    const typesOf = (event: object): readonly string[] => {
      const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
      const frames = bedrock.reframe?.(new Frame(Buffer.alloc(0), 'chunk', JSON.stringify({ bytes })), 'anthropic-messages') ?? [];
      return frames.map(({ data }) => data);
    };
    const [delta] = typesOf({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 }, ...members });
    assert.match(delta ?? '', /"stop_reason":"refusal".*"output_tokens":3/);
    const metrics = { 'amazon-bedrock-invocationMetrics': { outputTokenCount: 3 } };
    const [before, stop] = typesOf({ type: 'message_stop', ...metrics, ...members });
    assert.match(before ?? '', /^\{"type":"message_delta".*"stop_reason":"refusal".*"output_tokens":3/);
    assert.equal(stop, JSON.stringify({ type: 'message_stop', ...metrics }));
  });
});
