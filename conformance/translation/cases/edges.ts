import * as samples from '../samples.ts';
import type { TranslationCase } from '../translation-case.ts';

const section = 'Where settings meet';
const hello = { turns: [{ role: 'user', parts: ['Hello'] }] } as const;
const request = { turns: [{ role: 'user', parts: ['What is the weather in Oslo?'] }], tools: [samples.weatherTool] } as const;
/** Dialects with a field for log probabilities in requests and replies, which are translated into each other. */
const tellLikelihoods: ReadonlySet<string> = new Set(['openai-chat', 'openai-responses', 'gemini-generate-content']);
const hasNoVerbosity: readonly string[] = ['anthropic-messages', 'gemini-generate-content', 'bedrock-converse'];
const wantsUserFirst: readonly string[] = ['anthropic-messages', 'gemini-generate-content', 'bedrock-converse'];
const openSchema = {
  type: 'object',
  properties: { city: { type: 'object', properties: { name: { type: 'string' } } } },
  required: ['city'],
};

/** Settings that one vendor accepts together and another does not, and those that have no meaning without others. */
export const edgeCases: readonly TranslationCase[] = [
  {
    name: 'thinking with a forced call',
    section,
    model: 'thinker',
    skipsPassthrough: true,
    conversation: { ...request, choice: 'required', thinking: { effort: 'medium' } },
    expect: ({ to }) =>
      to === 'anthropic-messages'
        ? { notes: ['adapted thinking'], received: { choice: 'required' } }
        : { received: { choice: 'required' } },
  },
  {
    name: 'thinking within a tool loop that began without it',
    section,
    model: 'thinker',
    skipsPassthrough: true,
    conversation: {
      turns: [
        { role: 'user', parts: ['What is the weather?'] },
        { role: 'assistant', parts: [{ call: 'call_unthought', name: 'get_weather', arguments: { city: 'Oslo' } }] },
        { role: 'user', parts: [{ result: 'call_unthought', name: 'get_weather', content: 'Sunny.' }] },
      ],
      tools: [samples.weatherTool],
      thinking: { effort: 'medium' },
    },
    expect: ({ to }) => {
      if (to === 'anthropic-messages') return { notes: ['dropped thinking'] };
      const received = { thinking: 'effort medium' };
      // This vendor has a marker for calls that it did not make.
      return to === 'gemini-generate-content' ? { received, notes: ['adapted *'] } : { received };
    },
  },
  {
    name: 'thinking with a temperature',
    section,
    model: 'thinker',
    skipsPassthrough: true,
    conversation: { ...hello, temperature: 0.5, thinking: { effort: 'medium' } },
    expect: ({ to }) =>
      to === 'anthropic-messages' || to === 'openai-responses' ? { notes: ['dropped temperature'] } : { received: { temperature: 0.5 } },
  },
  {
    name: 'thinking with top-k',
    section,
    model: 'thinker',
    skipsPassthrough: true,
    conversation: { ...hello, topK: 40, thinking: { effort: 'medium' } },
    expect: ({ to }) =>
      to === 'gemini-generate-content' || to === 'bedrock-converse' ? { received: { topK: 40 } } : { notes: ['dropped topK'] },
  },
  {
    name: 'thinking of more than the output limit',
    section,
    model: 'thinker',
    skipsPassthrough: true,
    conversation: { ...hello, outputTokensMax: 2000, thinking: { effort: 'high' } },
    expect: ({ to }) => {
      if (to === 'anthropic-messages') return { notes: ['adapted outputTokensMax'] };
      const received = { outputTokensMax: 2000 };
      return to === 'bedrock-converse'
        ? { received: { ...received, thinking: 'effort medium' }, notes: ['adapted thinking'] }
        : { received };
    },
  },
  {
    name: 'a stop sequence of blanks',
    section,
    skipsPassthrough: true,
    isEstimated: true,
    unchecked: ['usage', 'stop'],
    only: ['openai-chat', 'gemini-generate-content'],
    conversation: { ...hello, stop: ['\n\n'] },
    steering: { text: encodeURIComponent('One.\n\nTwo.'), pace: 'tokensPerFrame=1' },
    expect: ({ to }) => ({
      said: { text: 'One.' },
      ...(to === 'anthropic-messages' || to === 'openai-responses' ? { notes: ['emulated stop'] } : {}),
    }),
  },
  {
    name: 'an answer by an open JSON Schema',
    section,
    conversation: { turns: [{ role: 'user', parts: ['Answer in JSON.'] }], format: { name: 'city', schema: openSchema } },
    skipsPassthrough: true,
    expect: ({ to }) => {
      if (to === 'bedrock-converse')
        return {
          notes: ['emulated format'],
          said: ({ toolCalls }) => ({ text: JSON.stringify(toolCalls[0]?.arguments), calls: [], stop: 'end' }),
        };
      return to === 'anthropic-messages' ? { notes: ['adapted format'] } : { received: { format: openSchema } };
    },
  },
  {
    name: 'an answer by a JSON Schema beside functions, from a model without schemas',
    section,
    model: 'limited',
    skipsPassthrough: true,
    unchecked: ['text', 'stop'],
    conversation: { ...request, format: { name: 'city', schema: samples.citySchema } },
    steering: { text: '%7B%22city%22%3A%22Oslo%22%7D', 'tool-calls': '0' },
    expect: () => ({ notes: ['emulated format'] }),
  },
  {
    name: 'an empty list of tools',
    section,
    skipsPassthrough: true,
    conversation: {
      ...hello,
      wire: {
        'anthropic-messages': { tools: [] },
        'openai-responses': { tools: [] },
        'openai-chat': { tools: [] },
        'gemini-generate-content': { tools: [] },
      },
    },
    expect: () => ({ received: { tools: [], choice: '' } }),
  },
  {
    name: 'a tool choice without tools',
    section,
    skipsPassthrough: true,
    conversation: {
      ...hello,
      wire: {
        'anthropic-messages': { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
        'openai-responses': { tool_choice: 'auto', parallel_tool_calls: false },
        'openai-chat': { tool_choice: 'auto', parallel_tool_calls: false },
        'gemini-generate-content': { toolConfig: { functionCallingConfig: { mode: 'AUTO' } } },
      },
    },
  },
  {
    name: 'only system text',
    section,
    skipsPassthrough: true,
    conversation: {
      ...hello,
      wire: {
        'openai-responses': { input: [{ role: 'developer', content: 'Greet the reader.' }] },
        'openai-chat': { messages: [{ role: 'system', content: 'Greet the reader.' }] },
      },
    },
    expect: ({ to }) => ({
      received: { system: 'Greet the reader.' },
      ...(wantsUserFirst.includes(to) ? { notes: ['adapted turns'] } : {}),
    }),
  },
  {
    name: 'probabilities of tokens',
    section,
    skipsPassthrough: true,
    conversation: {
      ...hello,
      wire: {
        'openai-responses': { top_logprobs: 2, include: ['message.output_text.logprobs'] },
        'openai-chat': { logprobs: true, top_logprobs: 2 },
        'gemini-generate-content': { generationConfig: { responseLogprobs: true, logprobs: 2 } },
      },
    },
    expect: ({ from, to }) => (from !== to && tellLikelihoods.has(from) && tellLikelihoods.has(to) ? {} : { notes: ['dropped *'] }),
  },
  {
    name: 'a wordy answer',
    section,
    skipsPassthrough: true,
    conversation: {
      ...hello,
      wire: { 'openai-responses': { text: { verbosity: 'high' } }, 'openai-chat': { verbosity: 'high' } },
    },
    expect: ({ to }) => (hasNoVerbosity.includes(to) ? { notes: ['dropped *'] } : {}),
  },
  {
    name: 'an answer that is not text',
    section,
    skipsPassthrough: true,
    conversation: {
      ...hello,
      wire: {
        'openai-chat': { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
        'gemini-generate-content': { generationConfig: { responseModalities: ['IMAGE'] } },
      },
    },
    expect: () => ({ refused: '*' }),
  },
  {
    name: 'a thread that the vendor stores',
    section,
    skipsPassthrough: true,
    conversation: { ...hello, wire: { 'anthropic-messages': { thread: { type: 'create' } } } },
    expect: () => ({ refused: 'thread' }),
  },
];
