import type { SpokenPart } from '../conversation.ts';
import * as samples from '../samples.ts';
import type { TranslationCase } from '../translation-case.ts';

const section = 'Results of tools';
const userTurn = { role: 'user', parts: ['What is the weather?'] } as const;
const city = (name: string) => ({ city: name });
const called = (id: string, name = 'get_weather', args: unknown = city('Oslo')) => ({ call: id, name, arguments: args }) as const;
const tools = [samples.weatherTool, samples.timeTool];
const firstCall = 'assistant: call 1 get_weather {"city":"Oslo"}';

function answered(...parts: readonly SpokenPart[]): TranslationCase['conversation'] {
  return { turns: [userTurn, { role: 'assistant', parts: [called('call_1')] }, { role: 'user', parts }], tools };
}

const result = { result: 'call_1', name: 'get_weather', content: 'Sunny.' } as const;
const isWithoutMark: readonly string[] = ['openai-responses', 'openai-chat'];

/** Results in the history, complete and broken. */
export const toolResultCases: readonly TranslationCase[] = [
  {
    name: 'a result of text',
    section,
    conversation: answered(result),
    expect: () => ({ received: { turns: ['user: What is the weather?', firstCall, 'user: result 1 Sunny.'] } }),
  },
  {
    name: 'a result of JSON',
    section,
    conversation: answered({ ...result, content: { json: { sky: 'clear', degrees: [21, 22] } } }),
    expect: () => ({ received: { turns: ['user: What is the weather?', firstCall, 'user: result 1 {"sky":"clear","degrees":[21,22]}'] } }),
  },
  {
    name: 'a result of a JSON list',
    section,
    conversation: answered({ ...result, content: { json: [1, 2] } }),
    expect: () => ({ received: { turns: ['user: What is the weather?', firstCall, 'user: result 1 [1,2]'] } }),
  },
  {
    name: 'an empty result',
    section,
    conversation: answered({ ...result, content: '' }),
    // A result of Converse is never empty.
    expect: ({ to }) => ({
      received: { turns: ['user: What is the weather?', firstCall, `user: result 1 ${to === 'bedrock-converse' ? '(no output)' : ''}`] },
    }),
  },
  {
    name: 'a result with an error of the tool',
    section,
    conversation: answered({ ...result, content: 'no such city', isError: true }),
    expect: ({ to }) => ({
      received: {
        turns: [
          'user: What is the weather?',
          firstCall,
          isWithoutMark.includes(to) ? 'user: result 1 Error: no such city' : 'user: failed result 1 no such city',
        ],
      },
    }),
  },
  {
    name: 'a result with an image',
    section,
    conversation: answered({ ...result, content: { text: 'The map:', image: 'inline' } }),
    expect: ({ to }) =>
      to === 'openai-chat' || to === 'gemini-generate-content'
        ? { notes: ['adapted *'] }
        : {
            received: {
              turns: ['user: What is the weather?', firstCall, `user: result 1 The map: + [image/png, ${samples.imageBytes} bytes]`],
            },
          },
  },
  {
    name: 'a result followed by text of the user',
    section,
    conversation: answered(result, 'And tomorrow?'),
    expect: () => ({ received: { turns: ['user: What is the weather?', firstCall, 'user: result 1 Sunny.', 'user: And tomorrow?'] } }),
  },
  {
    name: 'results in another order than the calls',
    section,
    only: ['anthropic-messages', 'openai-responses', 'openai-chat'],
    conversation: {
      turns: [
        userTurn,
        { role: 'assistant', parts: [called('call_1'), called('call_2', 'get_weather', city('Rome'))] },
        { role: 'user', parts: [{ ...result, result: 'call_2', content: 'Rain.' }, result] },
      ],
      tools,
    },
    expect: () => ({
      received: {
        turns: [
          'user: What is the weather?',
          firstCall,
          'assistant: call 2 get_weather {"city":"Rome"}',
          'user: result 1 Sunny.',
          'user: result 2 Rain.',
        ],
      },
    }),
  },
  {
    name: 'two rounds of calls with one id',
    section,
    skipsPassthrough: true,
    only: ['openai-responses', 'openai-chat'],
    conversation: {
      turns: [
        userTurn,
        { role: 'assistant', parts: [called('call_1')] },
        { role: 'user', parts: [result] },
        { role: 'assistant', parts: [called('call_1', 'get_weather', city('Rome'))] },
        { role: 'user', parts: [{ ...result, content: 'Rain.' }] },
      ],
      tools,
    },
  },
  {
    name: 'two calls at once with one id',
    section,
    skipsPassthrough: true,
    only: ['openai-responses', 'openai-chat'],
    conversation: {
      turns: [
        userTurn,
        { role: 'assistant', parts: [called('call_0'), called('call_0', 'get_time', city('Rome'))] },
        {
          role: 'user',
          parts: [
            { ...result, result: 'call_0' },
            { ...result, result: 'call_0', name: 'get_time', content: 'Noon.' },
          ],
        },
      ],
      tools,
    },
    expect: () => ({
      received: {
        turns: [
          'user: What is the weather?',
          firstCall,
          'assistant: call 2 get_time {"city":"Rome"}',
          'user: result 1 Sunny.',
          'user: result 2 Noon.',
        ],
      },
    }),
  },
  {
    name: 'a call that was never answered',
    section,
    skipsPassthrough: true,
    conversation: { turns: [userTurn, { role: 'assistant', parts: [called('call_1')] }, { role: 'user', parts: ['Never mind.'] }], tools },
    expect: ({ to }) => ({
      received: {
        turns: [
          'user: What is the weather?',
          firstCall,
          isWithoutMark.includes(to)
            ? 'user: result 1 Error: The tool call was not executed.'
            : 'user: failed result 1 The tool call was not executed.',
          'user: Never mind.',
        ],
      },
      notes: ['adapted *'],
    }),
  },
  {
    name: 'a result without its call',
    section,
    skipsPassthrough: true,
    conversation: { turns: [userTurn, { role: 'user', parts: [result] }], tools },
    expect: () => ({ refused: '*' }),
  },
  {
    name: 'arguments that are not JSON',
    section,
    skipsPassthrough: true,
    conversation: {
      turns: [
        userTurn,
        { role: 'assistant', parts: [{ call: 'call_1', name: 'get_weather', rawArguments: '{"city":' }] },
        { role: 'user', parts: [result] },
      ],
      tools,
    },
    // If both formats have text, the upstream validates it.
    expect: ({ to }) => (to === 'openai-responses' ? {} : { refused: '*' }),
  },
  {
    name: 'arguments that are blank text',
    section,
    skipsPassthrough: true,
    conversation: {
      turns: [
        userTurn,
        { role: 'assistant', parts: [{ call: 'call_1', name: 'get_weather', rawArguments: '' }] },
        { role: 'user', parts: [result] },
      ],
      tools,
    },
  },
  {
    name: 'an id with unusual characters',
    section,
    skipsPassthrough: true,
    only: ['openai-responses', 'openai-chat'],
    conversation: {
      turns: [
        userTurn,
        { role: 'assistant', parts: [called('functions.get_weather:0')] },
        { role: 'user', parts: [{ ...result, result: 'functions.get_weather:0' }] },
      ],
      tools,
    },
    expect: () => ({ received: { turns: ['user: What is the weather?', firstCall, 'user: result 1 Sunny.'] } }),
  },
];
