import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { signReasoning } from '../../simulator/src/reasoning-signature.ts';
import type { JsonRecord, SimulatedRequest } from '../../simulator/src/simulated-vendor.ts';
import { VendorError } from '../../simulator/src/simulated-vendor.ts';
import { checkConversation, checkCountTokensBody, checkMessagesBody } from '../../simulator/src/vendors/anthropic/check-messages.ts';
import { codec } from '../../src/dialects/anthropic-messages/codec/codec.ts';
import { validateRequest } from '../../src/dialects/anthropic-messages/validate-request.ts';
import type { RequestFit } from '../../src/dialects/chat-codec.ts';
import { GatewayError } from '../../src/inference/gateway-error.ts';
import type { InferenceRequest, Part, Tool, Turn } from '../../src/inference/inference-request.ts';
import { createTranslationNotes } from '../../src/inference/translation-notes.ts';
import type { JsonObject } from '../../src/platform/json/json-value.ts';
import { traitsOfClaude } from '../../src/upstreams/claude-traits.ts';

/**
 * For any request in another dialect, the codec sends a request that the vendor accepts, or the gateway refuses it with
 * a field.
 */
const headers = { 'anthropic-version': '2023-06-01' };

function judge(body: JsonObject, path: string): void {
  const request: SimulatedRequest = {
    method: 'POST',
    path,
    query: new URLSearchParams(),
    headers,
    body: body as JsonRecord,
    requestId: 'req_1',
  };
  if (path.endsWith('count_tokens')) checkCountTokensBody(request);
  else {
    const checked = checkMessagesBody(request);
    checkConversation(request, checked.messages, checked);
  }
}

const word = fc.constantFrom('', ' ', 'Hello.', 'ä\n', '{"a":1}', 'x'.repeat(40));
const callId = fc.constantFrom('call_1', 'call_2', 'functions.f:0', 'a'.repeat(80));
const toolName = fc.constantFrom('f', 'g', 'my.tool', 'a/b', 'é');

const text: fc.Arbitrary<Part> = word.map((said) => ({ kind: 'text', text: said }));
const call: fc.Arbitrary<Part> = fc.record({
  kind: fc.constant('tool-call' as const),
  id: callId,
  name: toolName,
  arguments: fc.constantFrom('', '{}', '{"a":1}', '{'),
});
const result: fc.Arbitrary<Part> = fc.record({
  kind: fc.constant('tool-result' as const),
  callId,
  content: fc.array(
    fc.oneof(
      word.map((said) => ({ kind: 'text', text: said }) as const),
      fc.constant({ kind: 'media', media: 'image', source: { kind: 'inline', mediaType: 'image/png', data: 'AAAA' } } as const),
    ),
    { maxLength: 2 },
  ),
  isError: fc.boolean(),
});
const media: fc.Arbitrary<Part> = fc.constantFrom<Part[]>(
  { kind: 'media', media: 'image', source: { kind: 'url', url: 'https://a.example/i.png' } },
  { kind: 'media', media: 'file', source: { kind: 'inline', mediaType: 'application/pdf', data: 'AAAA' }, filename: 'a.pdf' },
  { kind: 'media', media: 'file', source: { kind: 'text', text: 'words' }, title: '' },
  { kind: 'media', media: 'audio', source: { kind: 'inline', mediaType: 'audio/wav', data: 'AAAA' } },
);
const reasoning: fc.Arbitrary<Part> = fc.constantFrom<Part[]>(
  { kind: 'reasoning', text: ['Hm'], proof: { origin: 'anthropic', blob: signReasoning('Hm') } },
  { kind: 'reasoning', text: [], proof: { origin: 'anthropic', blob: 'R', hidden: true } },
  { kind: 'reasoning', text: ['Hm'], proof: { origin: 'openai', blob: 'O' } },
  { kind: 'reasoning', text: ['Hm'] },
);
const record: fc.Arbitrary<Part> = fc.constant({ kind: 'server-tool', tool: 'web-search', id: 'ws', input: ['q'], wire: [] });
const refusal: fc.Arbitrary<Part> = word.map((said) => ({ kind: 'refusal', text: said }));

const partsOf: Readonly<Record<Turn['role'], fc.Arbitrary<Part>>> = {
  system: text,
  user: fc.oneof(text, media, { arbitrary: result, weight: 2 }),
  assistant: fc.oneof(text, refusal, reasoning, record, { arbitrary: call, weight: 3 }),
};
const turn: fc.Arbitrary<Turn> = fc
  .constantFrom<Turn['role'][]>('system', 'user', 'assistant', 'user', 'assistant')
  .chain((role) => fc.array(partsOf[role], { maxLength: 4 }).map((parts) => ({ role, parts })));

/** A loop as agents make them: a question, calls, their results in any order, and the following turns. */
const loop: fc.Arbitrary<readonly Turn[]> = fc
  .tuple(fc.array(partsOf.assistant, { maxLength: 4 }), fc.array(turn, { maxLength: 2 }))
  .map(([parts, rest]) => [
    { role: 'user', parts: [{ kind: 'text', text: 'Hi' }] },
    { role: 'assistant', parts },
    {
      role: 'user',
      parts: parts
        .flatMap((part): readonly Part[] =>
          part.kind === 'tool-call'
            ? [{ kind: 'tool-result', callId: part.id, content: [{ kind: 'text', text: 'ok' }], isError: false }]
            : [],
        )
        .toReversed(),
    },
    ...rest,
  ]);

const schema = fc.constantFrom<JsonObject[]>(
  { type: 'object' },
  { type: 'object', properties: { n: { type: 'integer', minimum: 1 }, o: { type: 'object', properties: {} } }, required: ['n'] },
  { anyOf: [{ type: 'object', properties: { a: {} } }, { type: 'null' }] },
  { type: 'array', items: { type: 'object' } },
  {},
);
const tool: fc.Arbitrary<Tool> = fc.oneof(
  fc.record({ kind: fc.constant('function' as const), name: toolName, parameters: schema, strict: fc.boolean() }),
  fc.constantFrom<Tool[]>(
    { kind: 'web-search', allowedDomains: ['a.example'], blockedDomains: ['b.example'], contextSize: 'low' },
    { kind: 'code-execution' },
  ),
);
const tools = fc.uniqueArray(tool, { maxLength: 4, selector: (offered) => (offered.kind === 'function' ? offered.name : offered.kind) });
const optional = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> => fc.option(value, { nil: undefined });

const request: fc.Arbitrary<InferenceRequest> = fc
  .record({
    turns: fc.oneof(loop, fc.array(turn, { maxLength: 6 })),
    tools,
    instructions: fc.array(
      word.map((said) => ({ kind: 'text', text: said }) as const),
      { maxLength: 2 },
    ),
    toolChoice: optional(
      fc.constantFrom(
        { kind: 'auto' } as const,
        { kind: 'required' } as const,
        { kind: 'none' } as const,
        { kind: 'function', name: 'f' } as const,
        { kind: 'allowed', names: ['g'], required: true } as const,
      ),
    ),
    parallelToolCalls: optional(fc.boolean()),
    outputTokensMax: optional(fc.constantFrom(1, 500, 2000, 1_000_000)),
    stopSequences: optional(fc.constantFrom(['END'], ['\n'], [])),
    outputFormat: optional(
      fc.oneof(
        fc.constant({ kind: 'json' } as const),
        schema.map((value) => ({ kind: 'json-schema', schema: value, name: 'f' }) as const),
      ),
    ),
    sampling: fc.constantFrom(
      {},
      { temperature: 2, topP: 0.5, topK: 4 },
      { temperature: 0, topP: 1 },
      { temperature: 1, topP: 0.99, seed: 1 },
    ),
    reasoning: optional(
      fc.constantFrom(
        { mode: 'off' } as const,
        { mode: 'on', effort: 'high' } as const,
        { mode: 'on', budgetTokens: 1500, visible: false } as const,
        { mode: 'auto', effort: 'minimal' } as const,
        { mode: 'on', visible: true } as const,
      ),
    ),
    endUser: optional(fc.constantFrom('u', 'u'.repeat(600))),
    serviceTier: optional(fc.constantFrom('auto' as const, 'default' as const, 'flex' as const, 'priority' as const)),
    stream: fc.boolean(),
  })
  .map(({ turns, tools: offered, instructions, sampling, stream, ...rest }) => ({
    model: 'asked',
    turns,
    tools: offered,
    instructions,
    sampling,
    stream,
    vendorFields: [],
    ...(Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as Partial<InferenceRequest>),
  }));

const models = ['claude-opus-5-5', 'claude-sonnet-4-6', 'claude-sonnet-4-5', 'claude-opus-4-20250514', 'claude-3-5-haiku-latest'];

function createFit(upstreamModel: string, alwaysReasons: boolean): RequestFit {
  return {
    upstreamModel,
    traits: { ...traitsOfClaude(upstreamModel), alwaysReasons },
    proofOrigin: 'anthropic',
    notes: createTranslationNotes(codec.fieldNames, false),
  };
}

test('any request becomes one that the vendor accepts, or is refused with the name of a field', () => {
  let accepted = 0;
  fc.assert(
    fc.property(request, fc.constantFrom(...models), fc.boolean(), (asked, model, alwaysReasons) => {
      const fit = createFit(model, alwaysReasons);
      try {
        const { body } = codec.encodeRequest(asked, fit);
        validateRequest({ operation: 'generate', body, headers }, 'compatible');
        judge(body, '/v1/messages');
        judge(codec.encodeCountRequest?.(asked, fit) ?? {}, '/v1/messages/count_tokens');
        accepted += 1;
      } catch (error) {
        if (error instanceof VendorError) throw new Error(`the vendor refuses: ${error.message}`, { cause: error });
        assert.ok(error instanceof GatewayError, String(error));
        assert.equal(error.code, 'untranslatable_field', error.message);
        assert.ok(error.param !== undefined);
      }
    }),
    { numRuns: 4000 },
  );
  assert.ok(accepted > 1000, `only ${accepted} were accepted`);
});
