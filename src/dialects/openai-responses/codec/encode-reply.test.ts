import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { InferenceReply, ReplyPart } from '../../../inference/inference-reply.ts';
import { wrapProof } from '../../../inference/proof.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { writeCallProof } from './call-proofs.ts';
import { encodeReply } from './encode-reply.ts';
import {
  anthropicProof as anthropic,
  citedPage as page,
  proofsWanted,
  replyOf as reply,
  sampleUsage as usageReport,
} from './testing/sample-replies.ts';
import { createWriting } from './testing/test-kit.ts';

describe('the response object', () => {
  const written = (source: InferenceReply, request: JsonObject = {}): any => encodeReply(source, createWriting(request));

  test('has all members of the contract', () => {
    assert.deepEqual(written(reply([{ kind: 'text', text: 'Hi' }])), {
      id: 'resp_1',
      object: 'response',
      created_at: 1_794_000_000,
      completed_at: 1_794_000_002,
      status: 'completed',
      error: null,
      incomplete_details: null,
      model: 'served-model',
      output: [
        {
          id: 'msg_2',
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
        },
      ],
      service_tier: 'default',
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens: 9,
        output_tokens_details: { reasoning_tokens: 5 },
        total_tokens: 19,
      },
      background: false,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      parallel_tool_calls: true,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      store: true,
      temperature: 1,
      text: { format: { type: 'text' }, verbosity: 'medium' },
      tool_choice: 'auto',
      tools: [],
      top_logprobs: 0,
      top_p: 1,
      truncation: 'disabled',
      user: null,
      metadata: {},
    });
  });

  test("repeats the request with the vendor's defaults", () => {
    const response = written(reply([]), {
      instructions: 'Be brief.',
      max_output_tokens: 50,
      reasoning: { effort: 'low', summary: 'auto' },
      service_tier: 'flex',
      store: false,
      temperature: 0,
      text: { format: { type: 'json_schema', name: 'n', schema: {} }, verbosity: 'low' },
      tool_choice: { type: 'function', name: 'f' },
      tools: [{ type: 'function', name: 'f', parameters: null }, { type: 'web_search' }, { type: 'custom', name: 'c' }],
      user: 'u',
      metadata: { a: 'b' },
    });
    const { instructions, max_output_tokens, reasoning, service_tier, store, temperature, text, tool_choice, tools, user, metadata } =
      response;
    assert.deepEqual([instructions, max_output_tokens, service_tier, store, temperature, user], ['Be brief.', 50, 'flex', false, 0, 'u']);
    assert.deepEqual([reasoning, tool_choice, metadata], [{ effort: 'low', summary: 'auto' }, { type: 'function', name: 'f' }, { a: 'b' }]);
    assert.deepEqual(text, { format: { type: 'json_schema', name: 'n', schema: {}, description: null, strict: false }, verbosity: 'low' });
    assert.deepEqual(tools, [
      { type: 'function', name: 'f', description: null, parameters: null, strict: true },
      { type: 'web_search', search_context_size: 'medium', user_location: null },
      { type: 'custom', name: 'c' },
    ]);
  });

  const ends: readonly (readonly [Partial<InferenceReply>, string, unknown, unknown])[] = [
    [{ stopReason: 'end' }, 'completed', null, null],
    [{ stopReason: 'stop-sequence', stopSequence: 'END' }, 'completed', null, null],
    [{ stopReason: 'tool-calls' }, 'completed', null, null],
    [{ stopReason: 'output-limit' }, 'incomplete', { reason: 'max_output_tokens' }, null],
    [{ stopReason: 'context-limit' }, 'incomplete', { reason: 'max_output_tokens' }, null],
    [{ stopReason: 'pause' }, 'incomplete', { reason: 'max_output_tokens' }, null],
    [{ stopReason: 'refusal' }, 'incomplete', { reason: 'content_filter' }, null],
    [{ stopReason: 'failed' }, 'failed', null, { code: 'server_error', message: 'The model could not finish its reply.' }],
    [{ stopReason: 'failed', stopDetail: 'Why.' }, 'failed', null, { code: 'server_error', message: 'Why.' }],
  ];
  for (const [end, status, details, error] of ends) {
    test(`is ${status} for ${JSON.stringify(end)}`, () => {
      const response = written(reply([{ kind: 'text', text: 'a' }], end));
      assert.deepEqual([response.status, response.incomplete_details, response.error], [status, details, error]);
      assert.equal(response.output[0].status, status === 'incomplete' ? 'incomplete' : 'completed');
    });
  }

  test('is completed by a refusal with text', () => {
    assert.equal(written(reply([{ kind: 'refusal', text: 'No.' }], { stopReason: 'refusal' })).status, 'completed');
  });

  test('has null for unknown usage, and cache writes if they are known', () => {
    const { usageReport: _usage, ...silent } = reply([]);
    assert.equal(written(silent).usage, null);
    const usage = { inputTokens: 1, cacheWrite5mTokens: 2, cacheWrite1hTokens: 3 };
    assert.deepEqual(written(reply([], { usageReport: { ...usageReport, usage } })).usage.input_tokens_details, {
      cached_tokens: 0,
      cache_write_tokens: 5,
    });
    assert.equal(written(reply([], { usageReport: { ...usageReport, usage } })).usage.input_tokens, 6);
  });
});

describe('items', () => {
  const outputOf = (parts: readonly ReplyPart[], request: JsonObject = {}): any => encodeReply(reply(parts), createWriting(request)).output;
  const thought: ReplyPart = { kind: 'reasoning', text: ['a'], proof: anthropic };

  test('has proofs for clients that request them or do not store responses, and wraps foreign ones', () => {
    assert.equal('encrypted_content' in outputOf([thought])[0], false);
    for (const request of [proofsWanted, { store: false }])
      assert.equal(outputOf([thought], request)[0].encrypted_content, wrapProof(anthropic));
    assert.equal(outputOf([{ ...thought, proof: { origin: 'openai', blob: 'gAAA' } }], proofsWanted)[0].encrypted_content, 'gAAA');
  });

  test('has no item for empty reasoning without a visible proof', () => {
    assert.deepEqual(outputOf([{ kind: 'reasoning', text: [], proof: anthropic }]), []);
  });

  test('has the proof of a call behind the call', () => {
    const proof = { origin: 'gemini', blob: 'AbC=' };
    const call: ReplyPart = { kind: 'tool-call', id: 'call_1', name: 'f', arguments: '{}', proof };
    assert.equal(outputOf([call]).length, 1);
    const [, item] = outputOf([call], proofsWanted);
    assert.deepEqual([item.type, item.summary, item.encrypted_content], ['reasoning', [], writeCallProof(proof, 'call_1')]);
  });

  test('has the bare input of a custom tool, also if the model wrote another form', () => {
    const tools = [{ type: 'custom', name: 'apply' }];
    const call = (text: string): ReplyPart => ({ kind: 'tool-call', id: 'c', name: 'apply', arguments: text });
    const inputs = ['{"input":"x\\n"}', '{"input":5}', '{"in', ''].map((text) => outputOf([call(text)], { tools })[0].input);
    assert.deepEqual(inputs, ['x\n', '{"input":5}', '{"in', '']);
    const [item] = outputOf([call('{"input":"x"}')], { tools });
    assert.deepEqual([item.type, item.name, item.call_id, item.id.slice(0, 3)], ['custom_tool_call', 'apply', 'c', 'ctc']);
  });

  test('has the original name of a function in a namespace', () => {
    const tools = [{ type: 'namespace', name: 'mcp__node', tools: [{ type: 'function', name: 'js' }] }];
    const [item] = outputOf([{ kind: 'tool-call', id: 'c', name: 'mcp__node__js', arguments: '{}' }], { tools });
    assert.deepEqual([item.name, item.namespace], ['js', 'mcp__node']);
  });

  test('counts offsets of citations in characters, and a citation without them covers its part', () => {
    const [message] = outputOf([
      {
        kind: 'text',
        text: '🌊🌊 wet',
        citations: [page, { ...page, start: 1, end: 2 }, { title: 'Plan', source: { kind: 'document', index: 2 } }],
      },
    ]);
    assert.deepEqual(message.content[0].annotations, [
      { type: 'url_citation', start_index: 0, end_index: 6, title: 'T', url: 'https://example.org' },
      { type: 'url_citation', start_index: 1, end_index: 2, title: 'T', url: 'https://example.org' },
      { type: 'file_citation', file_id: 'document-2', filename: 'Plan', index: 6 },
    ]);
  });

  test('has sources and outputs if they were requested', () => {
    const search: ReplyPart = { kind: 'server-tool', tool: 'web-search', id: 's', input: ['q'], results: [{ url: 'u' }], wire: [] };
    assert.deepEqual(outputOf([search])[0].action, { type: 'search', query: 'q', queries: ['q'] });
    assert.equal('results' in outputOf([search])[0], false);
    assert.deepEqual(outputOf([search], { include: ['web_search_call.action.sources'] })[0].action.sources, [{ type: 'url', url: 'u' }]);
    const run: ReplyPart = { kind: 'server-tool', tool: 'code-execution', id: 'x', input: ['1'], results: [{ text: '1' }], wire: [] };
    assert.equal(outputOf([run])[0].outputs, null);
    assert.deepEqual(outputOf([run], { include: ['code_interpreter_call.outputs'] })[0].outputs, [{ type: 'logs', logs: '1' }]);
  });

  test('has one container for all code of a reply', () => {
    const run: ReplyPart = { kind: 'server-tool', tool: 'code-execution', id: 'x', input: ['1'], results: [{ text: '1' }], wire: [] };
    const [first, second] = outputOf([run, { ...run, id: 'y' }]);
    assert.match(first.container_id, /^cntr/);
    assert.equal(second.container_id, first.container_id);
    assert.notEqual(second.id, first.id);
  });

  test('notes parts that have no item', () => {
    const writing = createWriting();
    encodeReply(reply([{ kind: 'media', media: 'audio', source: { kind: 'inline', mediaType: 'audio/wav', data: 'AA' } }]), writing);
    encodeReply(reply([{ kind: 'text', text: 'a', citations: [{ source: { kind: 'document', index: 0, locator: 'page 1' } }] }]), writing);
    assert.deepEqual(
      writing.notes.list().map(({ kind, field }) => `${kind} ${field}`),
      ['adapted output'],
    );
  });
});
