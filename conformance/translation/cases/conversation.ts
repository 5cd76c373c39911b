import type { TranslationCase } from '../translation-case.ts';

const section = 'Conversation';
const hello = { role: 'user', parts: ['Hello'] } as const;
const keepsSystemTurns: readonly string[] = ['openai-responses', 'openai-chat'];

/** Turns, their speakers and their order. */
export const conversationCases: readonly TranslationCase[] = [
  {
    name: 'one user turn',
    section,
    conversation: { turns: [hello] },
    expect: () => ({ received: { system: '', turns: ['user: Hello'] } }),
  },
  {
    name: 'system text',
    section,
    conversation: { system: ['Be brief.'], turns: [hello] },
    expect: () => ({ received: { system: 'Be brief.', turns: ['user: Hello'] } }),
  },
  {
    name: 'system text in several pieces',
    section,
    conversation: { system: ['Be brief.', 'Be kind.'], turns: [hello] },
    expect: () => ({ received: { system: 'Be brief.\n\nBe kind.', turns: ['user: Hello'] } }),
  },
  {
    name: 'system text in the middle of a conversation',
    section,
    conversation: {
      turns: [hello, { role: 'assistant', parts: ['Hi.'] }, { role: 'system', parts: ['Speak French.'] }, { role: 'user', parts: ['Bye'] }],
    },
    expect: ({ to }) =>
      keepsSystemTurns.includes(to)
        ? { received: { turns: ['user: Hello', 'assistant: Hi.', 'system: Speak French.', 'user: Bye'] } }
        : {
            received: { turns: ['user: Hello', 'assistant: Hi.', 'user: <system>Speak French.</system>', 'user: Bye'] },
            notes: ['adapted *'],
          },
  },
  {
    name: 'a conversation of several turns',
    section,
    conversation: { turns: [hello, { role: 'assistant', parts: ['Hi.'] }, { role: 'user', parts: ['How are you?'] }] },
    expect: () => ({ received: { turns: ['user: Hello', 'assistant: Hi.', 'user: How are you?'] } }),
  },
  {
    name: 'a turn of several texts',
    section,
    conversation: { turns: [{ role: 'user', parts: ['Hello', 'World'] }] },
    expect: () => ({ received: { turns: ['user: Hello', 'user: World'] } }),
  },
  {
    name: 'two consecutive user turns',
    section,
    conversation: { turns: [hello, { role: 'user', parts: ['Still there?'] }] },
    expect: () => ({ received: { turns: ['user: Hello', 'user: Still there?'] } }),
  },
  {
    name: 'two consecutive assistant turns',
    section,
    conversation: {
      turns: [hello, { role: 'assistant', parts: ['One.'] }, { role: 'assistant', parts: ['Two.'] }, { role: 'user', parts: ['Bye'] }],
    },
    expect: () => ({ received: { turns: ['user: Hello', 'assistant: One.', 'assistant: Two.', 'user: Bye'] } }),
  },
  {
    name: 'text of many scripts',
    section,
    conversation: { turns: [{ role: 'user', parts: ['世界 😀 naïve é \u200d👩‍👩‍👧 \u2028 "quoted" \\ tab\t'] }] },
    steering: { text: encodeURIComponent('返答 😀👩‍👩‍👧 e\u0301 “quoted” \\ \n line\ttab'), pace: 'tokensPerFrame=1;chunkBytes=3' },
    expect: () => ({ received: { turns: ['user: 世界 😀 naïve é \u200d👩‍👩‍👧 \u2028 "quoted" \\ tab\t'] } }),
  },
  {
    name: 'a long history',
    section,
    conversation: {
      turns: [
        ...Array.from({ length: 60 }, (_, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', parts: [`turn ${index}`] }) as const),
        hello,
      ],
    },
    expect: () => ({
      received: {
        turns: [...Array.from({ length: 60 }, (_, index) => `${index % 2 === 0 ? 'user' : 'assistant'}: turn ${index}`), 'user: Hello'],
      },
    }),
  },
];
