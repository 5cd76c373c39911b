import * as samples from '../samples.ts';
import type { TranslationCase } from '../translation-case.ts';

const section = 'Spellings';
const asked = { turns: [{ role: 'user', parts: ['Hello'] }] } as const;

/** Alternative spellings in a dialect that its own vendor accepts. */
export const spellingCases: readonly TranslationCase[] = [
  {
    name: 'the shortest request',
    section,
    conversation: {
      ...asked,
      wire: {
        'anthropic-messages': { messages: [{ role: 'user', content: 'Hello' }] },
        'openai-responses': { input: 'Hello' },
        'openai-chat': { messages: [{ role: 'user', content: 'Hello' }] },
        'gemini-generate-content': { contents: { parts: { text: 'Hello' } } },
      },
    },
    expect: () => ({ received: { turns: ['user: Hello'] } }),
  },
  {
    name: 'content as parts, and settings under their other names',
    section,
    conversation: {
      ...asked,
      wire: {
        'anthropic-messages': {
          system: [{ type: 'text', text: 'Be brief.' }],
          messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }] }],
          max_tokens: 300,
        },
        'openai-responses': {
          input: [
            { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
            { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
          ],
          max_output_tokens: 300,
        },
        'openai-chat': {
          messages: [
            { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
            { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
          ],
          max_tokens: 300,
        },
        'gemini-generate-content': {
          contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
          system_instruction: { parts: [{ text: 'Be brief.' }] },
          generation_config: { max_output_tokens: 300 },
        },
      },
    },
    // Converse has marks for the cache too.
    expect: ({ from, to }) => ({
      received: { system: 'Be brief.', turns: ['user: Hello'], outputTokensMax: 300 },
      ...(from === 'anthropic-messages' && to !== 'bedrock-converse' ? { notes: ['dropped *'] } : {}),
    }),
  },
  {
    name: 'a function in the format of an earlier version',
    section,
    skipsPassthrough: true,
    conversation: {
      ...asked,
      wire: {
        'openai-chat': {
          functions: [{ name: 'get_weather', description: 'The weather of a city.', parameters: samples.citySchema }],
          function_call: 'auto',
        },
        'gemini-generate-content': {
          tools: [
            {
              function_declarations: [
                {
                  name: 'get_weather',
                  parameters: { type: 'OBJECT', properties: { city: { type: 'STRING', nullable: true } }, required: ['city'] },
                },
              ],
            },
          ],
        },
      },
    },
    steering: { text: 'Sunny.' },
    expect: () => ({ received: { tools: ['get_weather'] } }),
  },
  {
    name: 'arguments and results with members that are null',
    section,
    conversation: {
      turns: [
        { role: 'user', parts: ['What is the weather?'] },
        { role: 'assistant', parts: [{ call: 'call_1', name: 'get_weather', arguments: { city: null } }] },
        { role: 'user', parts: [{ result: 'call_1', name: 'get_weather', content: { json: { sky: null } } }] },
      ],
      tools: [samples.weatherTool],
    },
    expect: () => ({
      received: {
        turns: ['user: What is the weather?', 'assistant: call 1 get_weather {"city":null}', 'user: result 1 {"sky":null}'],
      },
    }),
  },
];
