import type { InferenceReply, ReplyPart } from '../../../../inference/inference-reply.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';

export const anthropicProof = { origin: 'anthropic', blob: 'sig' };
export const sampleUsage = {
  usage: { inputTokens: 6, cacheReadTokens: 4, outputTokens: 9, reasoningTokens: 5 },
  raw: {},
  trustworthy: true,
};
export const replyOf = (parts: readonly ReplyPart[], more: Partial<InferenceReply> = {}): InferenceReply => ({
  replyId: 'up_1',
  servedModel: 'served-model',
  parts,
  stopReason: 'end',
  usageReport: sampleUsage,
  ...more,
});
export const proofsWanted = { include: ['reasoning.encrypted_content'] };
export const citedPage = { title: 'T', source: { kind: 'url', url: 'https://example.org' } } as const;
const png = { kind: 'inline', mediaType: 'image/png', data: 'iVBO' } as const;

/** Replies with all kinds of content, and the requests that they answer. */
export const samples: readonly (readonly [name: string, reply: InferenceReply, request?: JsonObject])[] = [
  ['an empty reply', replyOf([])],
  ['text', replyOf([{ kind: 'text', text: 'Hi 🌊 "there"\n\u2028' }])],
  [
    'text in parts',
    replyOf([
      { kind: 'text', text: 'a' },
      { kind: 'text', text: 'b', citations: [citedPage] },
      { kind: 'text', text: 'c' },
    ]),
  ],
  ['a refusal', replyOf([{ kind: 'refusal', text: 'No.' }], { stopReason: 'refusal' })],
  [
    'reasoning, shown in paragraphs',
    replyOf([
      { kind: 'reasoning', text: ['a', 'b'], proof: anthropicProof },
      { kind: 'text', text: 'c' },
    ]),
  ],
  [
    'reasoning with its proof',
    replyOf(
      [
        { kind: 'reasoning', text: ['a'], proof: anthropicProof },
        { kind: 'text', text: 'c' },
      ],
      {},
    ),
    proofsWanted,
  ],
  [
    'hidden reasoning',
    replyOf([
      { kind: 'reasoning', text: [], proof: { ...anthropicProof, hidden: true } },
      { kind: 'text', text: 'c' },
    ]),
    { store: false },
  ],
  [
    'calls',
    replyOf(
      [
        { kind: 'text', text: 'I look.' },
        { kind: 'tool-call', id: 'toolu_1', name: 'f', arguments: '{"a":1}', proof: { origin: 'gemini', blob: 'AbC=' } },
        { kind: 'tool-call', id: 'toolu_2', name: 'g', arguments: '' },
      ],
      { stopReason: 'tool-calls' },
    ),
    proofsWanted,
  ],
  [
    'calls of a custom tool and of a namespace',
    replyOf(
      [
        { kind: 'tool-call', id: 'c1', name: 'apply', arguments: '{"input":"*** \\"x\\""}' },
        { kind: 'tool-call', id: 'c2', name: 'mcp__node__js', arguments: '{}' },
        { kind: 'tool-call', id: 'c3', name: 'apply', arguments: '{"inp' },
      ],
      { stopReason: 'tool-calls' },
    ),
    {
      tools: [
        { type: 'custom', name: 'apply' },
        { type: 'namespace', name: 'mcp__node', description: 'd', tools: [{ type: 'function', name: 'js', parameters: {} }] },
      ],
    },
  ],
  [
    'a search, code and an image',
    replyOf([
      {
        kind: 'server-tool',
        tool: 'web-search',
        id: 's',
        input: ['q', 'r'],
        results: [{ url: 'https://example.org', title: 'T' }],
        wire: [],
      },
      { kind: 'server-tool', tool: 'code-execution', id: 'x', input: ['1+1'], results: [{ text: '2' }], wire: [] },
      { kind: 'server-tool', tool: 'web-search', id: 's', input: ['z'], failed: true, wire: [] },
      { kind: 'media', media: 'image', source: png },
      { kind: 'text', text: 'Two.' },
    ]),
    { include: ['web_search_call.action.sources', 'code_interpreter_call.outputs'] },
  ],
  ['a text that was cut', replyOf([{ kind: 'text', text: 'a' }], { stopReason: 'output-limit' })],
  [
    'a call that was cut',
    replyOf(
      [
        { kind: 'text', text: 'a' },
        { kind: 'tool-call', id: 'c', name: 'f', arguments: '{"a' },
      ],
      { stopReason: 'context-limit' },
    ),
  ],
  ['a reply that was filtered', replyOf([], { stopReason: 'refusal' })],
  ['a reply that failed', replyOf([{ kind: 'text', text: 'a' }], { stopReason: 'failed', stopDetail: 'Malformed call.' })],
];
