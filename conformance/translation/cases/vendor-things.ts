import type { ClientView } from '../conversation.ts';
import type { Pair, TranslationCase } from '../translation-case.ts';

const hello = { turns: [{ role: 'user', parts: ['Hello'] }] } as const;
const section = 'Things of one vendor';

const searchedText = '世界 has a weir 😀. It is old.';

/** The simulated vendors cite one source for the first sentence, and the one with grounding cites each. */
function citedFrom({ from, to }: Pair): ClientView['citations'] {
  // In Messages a block is cited, and elsewhere the citation follows the text that was already sent.
  const whole = from === 'anthropic-messages' && to !== 'anthropic-messages' ? searchedText : undefined;
  const first = whole ?? '世界 has a weir 😀.';
  if (to !== 'gemini-generate-content') return [{ url: 'https://simulated.example/weir', cited: first }];
  const url = 'https://simulated.example/grounding-api-redirect/1';
  return [
    { url, cited: first },
    { url, cited: whole ?? 'It is old.' },
  ];
}

const hints = {
  'anthropic-messages': { system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }] },
  'openai-responses': { prompt_cache_key: 'k', metadata: { a: 'b' }, safety_identifier: 's', store: false },
  'openai-chat': { prompt_cache_key: 'k', metadata: { a: 'b' }, store: false },
  'gemini-generate-content': { labels: { a: 'b' } },
} as const;

/** Features of one vendor. */
export const vendorCases: readonly TranslationCase[] = [
  {
    name: 'web search',
    section: 'Server tools',
    // The gateway searches for models of Converse, and no search service is set up here.
    without: ['bedrock-converse'],
    conversation: { ...hello, search: {} },
    steering: { text: encodeURIComponent(searchedText), pace: 'tokensPerFrame=1' },
    expect: (pair) => ({ received: { search: 'search' }, said: { citations: citedFrom(pair) } }),
  },
  {
    name: 'web search, and a second question',
    section: 'Server tools',
    without: ['bedrock-converse'],
    conversation: { ...hello, search: {} },
    steering: { text: encodeURIComponent(searchedText) },
    continued: ({ from, to }) => ({
      received: { turns: ['user: Hello', `assistant: ${searchedText}`, 'user: Go on.'] },
      // The record of a search is in the format of its own interface, and the text stays. One interface has a field for
      // sources of the text.
      notes: [
        ...((from === 'anthropic-messages' || from === 'openai-responses') && to !== 'openai-chat' ? ['dropped turns'] : []),
        ...(from !== 'gemini-generate-content' && to !== 'openai-responses' ? ['adapted turns'] : []),
      ],
    }),
  },
  {
    name: 'web search in some domains',
    section: 'Server tools',
    without: ['bedrock-converse'],
    conversation: { ...hello, search: { allowedDomains: ['example.com'] } },
    expect: ({ to }) =>
      to === 'openai-chat' || to === 'gemini-generate-content'
        ? { received: { search: 'search' }, notes: ['dropped tools'] }
        : { received: { search: 'search example.com' } },
  },
  {
    name: 'code execution',
    section: 'Server tools',
    conversation: { ...hello, codeExecution: true },
    expect: ({ to }) => (to === 'openai-chat' || to === 'bedrock-converse' ? { standIn: 'run_python' } : {}),
  },
  {
    name: 'a tool of one vendor',
    section,
    skipsPassthrough: true,
    conversation: {
      ...hello,
      wire: {
        'anthropic-messages': { tools: [{ type: 'memory_20250818', name: 'memory' }] },
        'openai-responses': { tools: [{ type: 'local_shell' }] },
        'openai-chat': { tools: [{ type: 'custom', custom: { name: 'grammar' } }] },
        'gemini-generate-content': { tools: [{ googleMaps: {} }] },
      },
    },
    expect: () => ({ refused: 'tools' }),
  },
  {
    name: 'several candidates',
    section,
    skipsPassthrough: true,
    conversation: { ...hello, count: 2 },
    expect: ({ from }) => ({ refused: from === 'openai-chat' ? 'n' : 'candidateCount' }),
  },
  {
    name: 'state that the vendor stores',
    section,
    skipsPassthrough: true,
    conversation: {
      ...hello,
      wire: {
        'anthropic-messages': { container: 'container_1' },
        'openai-responses': { prompt: { id: 'pmpt_1' } },
        'gemini-generate-content': { cachedContent: 'cachedContents/1' },
      },
    },
    expect: ({ from }) => {
      const fields: Readonly<Record<string, string>> = {
        'anthropic-messages': 'container',
        'openai-responses': 'prompt',
        'gemini-generate-content': 'cachedContent',
      };
      return { refused: fields[from] ?? '' };
    },
  },
  {
    name: 'settings of one vendor only',
    section,
    skipsPassthrough: true,
    conversation: {
      ...hello,
      wire: {
        'anthropic-messages': { inference_geo: 'eu' },
        'openai-responses': { max_tool_calls: 2 },
        'openai-chat': { logit_bias: { '1': 5 } },
        'gemini-generate-content': { safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_LOW_AND_ABOVE' }] },
      },
    },
    expect: () => ({ notes: ['dropped *'] }),
  },
  {
    name: 'settings of one vendor only, strictly',
    section,
    skipsPassthrough: true,
    isStrict: true,
    conversation: {
      ...hello,
      wire: {
        'anthropic-messages': { inference_geo: 'eu' },
        'openai-responses': { max_tool_calls: 2 },
        'openai-chat': { logit_bias: { '1': 5 } },
        'gemini-generate-content': { safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_LOW_AND_ABOVE' }] },
      },
    },
    expect: ({ from }) => {
      const fields: Readonly<Record<string, string>> = {
        'anthropic-messages': 'inference_geo',
        'openai-responses': 'max_tool_calls',
        'openai-chat': 'logit_bias',
        'gemini-generate-content': 'safetySettings',
      };
      return { refused: fields[from] ?? '' };
    },
  },
  {
    name: 'an unknown field',
    section,
    skipsPassthrough: true,
    conversation: {
      ...hello,
      wire: {
        'anthropic-messages': { new_field: 1 },
        'openai-responses': { new_field: 1 },
        'openai-chat': { new_field: 1 },
        'gemini-generate-content': { newField: 1 },
      },
    },
    expect: ({ from }) => ({ notes: [`dropped ${from === 'gemini-generate-content' ? 'newField' : 'new_field'}`] }),
  },
  {
    name: 'hints of caching and bookkeeping',
    section,
    skipsPassthrough: true,
    conversation: { ...hello, wire: hints },
    // Converse has marks for the cache too.
    expect: ({ from, to }) => (from === 'anthropic-messages' && to === 'bedrock-converse' ? {} : { notes: ['dropped *'] }),
  },
  {
    name: 'hints of caching and bookkeeping, strictly',
    section,
    isStrict: true,
    skipsPassthrough: true,
    conversation: { ...hello, wire: hints },
    expect: ({ from, to }) => {
      if (from === 'anthropic-messages' && to === 'bedrock-converse') return {};
      const fields: Readonly<Record<string, string>> = {
        'anthropic-messages': 'system.0.cache_control',
        // The identifier is the name of the end user, which Converse does not have.
        'openai-responses': to === 'bedrock-converse' ? 'user' : 'prompt_cache_key',
        'openai-chat': 'prompt_cache_key',
        'gemini-generate-content': 'labels',
      };
      return { refused: fields[from] ?? '' };
    },
  },
];
