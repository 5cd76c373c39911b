import * as samples from '../samples.ts';
import type { PlannedReply, TranslationCase } from '../translation-case.ts';

const section = 'Tools';
const ask = { turns: [{ role: 'user', parts: ['What is the weather in Oslo?'] }] } as const;
const tools = [samples.weatherTool, samples.timeTool, { name: 'get_tide', description: 'The tide of a city.', schema: samples.citySchema }];
const one = { ...ask, tools: [samples.weatherTool] };
const all = { ...ask, tools };
const answers = { text: 'Sunny.' };
const hasNoSwitch: readonly string[] = ['gemini-generate-content', 'bedrock-converse'];
const named = (name: string) => ({ ...ask, tools: [{ name, schema: samples.citySchema }] });

const textBefore = ({ text }: PlannedReply): readonly string[] => (text === undefined ? [] : [`assistant: ${text}`]);

/** The offered functions, the choice of calls, and the calls of a reply. */
export const toolCases: readonly TranslationCase[] = [
  {
    name: 'a function',
    section,
    conversation: one,
    steering: answers,
    expect: ({ to }) => {
      // Nova takes three members of a schema.
      const { additionalProperties: _closed, ...plain } = samples.citySchema;
      return { received: { tools: ['get_weather'], schemas: { get_weather: to === 'bedrock-converse' ? plain : samples.citySchema } } };
    },
  },
  {
    name: 'a function without parameters',
    section,
    conversation: { ...ask, tools: [{ name: 'now' }] },
    expect: () => ({ received: { tools: ['now'] } }),
  },
  {
    name: 'two hundred functions',
    section,
    conversation: {
      ...ask,
      tools: Array.from({ length: 200 }, (_, index) => ({ name: `f${index}`, schema: { type: 'object', properties: {} } })),
    },
    expect: ({ to }) => (to === 'openai-chat' ? { refusedUpstream: /array too long/ } : {}),
  },
  {
    name: 'a name with dots and colons',
    section,
    only: ['gemini-generate-content'],
    conversation: named('files.read:1'),
    steering: { 'tool-calls': '1' },
  },
  { name: 'a name of a hundred letters', section, only: ['anthropic-messages', 'openai-responses'], conversation: named('f'.repeat(100)) },
  {
    name: 'a name that begins with a digit',
    section,
    only: ['anthropic-messages', 'openai-responses', 'openai-chat'],
    conversation: named('2fast'),
  },
  {
    name: 'a schema with references, choices and bounds',
    section,
    model: 'limited',
    conversation: { ...ask, tools: [{ name: 'book', schema: samples.richSchema }] },
    steering: answers,
    expect: ({ to }) => ({ received: { tools: ['book'] }, ...(to === 'gemini-generate-content' ? { notes: ['adapted tools'] } : {}) }),
  },
  {
    name: 'choice: the model decides',
    section,
    conversation: { ...all, choice: 'auto' },
    expect: ({ to }) => ({ received: { choice: to === 'bedrock-converse' ? '' : 'auto' } }),
  },
  {
    name: 'choice: some call',
    section,
    conversation: { ...all, choice: 'required' },
    expect: () => ({ received: { choice: 'required' } }),
  },
  {
    name: 'choice: no call',
    section,
    conversation: { ...all, choice: 'none' },
    // Converse has no such choice, so no function is offered.
    expect: ({ to }) => ({ received: to === 'bedrock-converse' ? { choice: '', tools: [] } : { choice: 'none' } }),
  },
  {
    name: 'choice: this function',
    section,
    conversation: { ...all, choice: { name: 'get_time' } },
    expect: () => ({ received: { choice: 'tool get_time' } }),
  },
  {
    name: 'choice: one of some functions',
    section,
    conversation: { ...all, choice: { allowed: ['get_weather', 'get_time'], required: true } },
    expect: ({ to }) => {
      const sent = { received: { choice: 'required', tools: ['get_weather', 'get_time'] } };
      if (to === 'anthropic-messages' || to === 'bedrock-converse') return sent;
      return to === 'openai-chat' ? { ...sent, notes: ['adapted choice'] } : { received: { choice: 'required of get_weather get_time' } };
    },
  },
  {
    name: 'choice: some functions or none',
    section,
    conversation: { ...all, choice: { allowed: ['get_weather', 'get_time'], required: false } },
    expect: ({ to }) => {
      const sent = { received: { tools: ['get_weather', 'get_time'] } };
      if (to === 'openai-chat' || to === 'gemini-generate-content') return { ...sent, notes: ['adapted choice'] };
      return to === 'anthropic-messages' || to === 'bedrock-converse' ? sent : { received: { choice: 'auto of get_weather get_time' } };
    },
  },
  {
    name: 'one call at a time',
    section,
    conversation: { ...one, parallel: false },
    expect: ({ to }) => (hasNoSwitch.includes(to) ? { notes: ['emulated parallel'] } : { received: { parallel: false } }),
  },
  { name: 'a call', section, conversation: one, steering: { 'tool-calls': '1' } },
  { name: 'two calls at once', section, conversation: all, steering: { 'tool-calls': '2' } },
  { name: 'four calls of one function at once', section, conversation: one, steering: { 'tool-calls': '4', pace: 'tokensPerFrame=1' } },
  { name: 'a call without arguments', section, conversation: one, steering: { 'tool-calls': '1', 'tool-arguments': '{}' } },
  {
    name: 'a call with deep arguments of many scripts',
    section,
    conversation: one,
    steering: {
      'tool-calls': '1',
      'tool-arguments': encodeURIComponent(
        JSON.stringify({ 名: ['😀', { 'a"b': '\\ \n \u2028' }, 1.5, true, null, []], empty: {}, '': '' }),
      ),
      pace: 'tokensPerFrame=1;chunkBytes=5',
    },
  },
  { name: 'text before a call', section, conversation: one, steering: { 'tool-calls': '1', text: 'Let%20me%20look.' } },
  {
    name: 'a call, its result, and the answer',
    section,
    conversation: one,
    steering: { 'tool-calls': '1' },
    continued: (_pair, first) => ({
      received: {
        turns: [
          'user: What is the weather in Oslo?',
          ...textBefore(first),
          `assistant: call 1 get_weather ${JSON.stringify(first.toolCalls[0]?.arguments)}`,
          'user: result 1 done get_weather',
        ],
      },
    }),
  },
  {
    name: 'four calls of one function, their results, and the answer',
    section,
    conversation: one,
    steering: { 'tool-calls': '4' },
    continued: (_pair, first) => ({
      received: {
        turns: [
          'user: What is the weather in Oslo?',
          ...textBefore(first),
          ...first.toolCalls.map((call, index) => `assistant: call ${index + 1} get_weather ${JSON.stringify(call.arguments)}`),
          ...first.toolCalls.map((_, index) => `user: result ${index + 1} done get_weather`),
        ],
      },
    }),
  },
];
