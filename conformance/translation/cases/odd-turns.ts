import type { TranslationCase } from '../translation-case.ts';

const section = 'Odd conversations';
const hello = { role: 'user', parts: ['Hello'] } as const;
const wantsUserFirst: readonly string[] = ['anthropic-messages', 'gemini-generate-content', 'bedrock-converse'];

/** Conversations that vendors refuse from each other's clients. */
export const oddTurnCases: readonly TranslationCase[] = [
  {
    name: 'the assistant speaks first',
    section,
    skipsPassthrough: true,
    conversation: { turns: [{ role: 'assistant', parts: ['Welcome.'] }, hello] },
    expect: ({ to }) =>
      wantsUserFirst.includes(to)
        ? { received: { turns: ['user: .', 'assistant: Welcome.', 'user: Hello'] }, notes: ['adapted turns'] }
        : { received: { turns: ['assistant: Welcome.', 'user: Hello'] } },
  },
  {
    name: 'an empty text among others',
    section,
    only: ['openai-responses', 'openai-chat', 'gemini-generate-content'],
    skipsPassthrough: true,
    conversation: { turns: [{ role: 'user', parts: ['', 'Hello'] }] },
    expect: () => ({ received: { turns: ['user: Hello'] } }),
  },
  {
    name: 'an empty assistant turn',
    section,
    only: ['openai-responses', 'openai-chat', 'gemini-generate-content'],
    skipsPassthrough: true,
    conversation: { turns: [hello, { role: 'assistant', parts: [''] }, { role: 'user', parts: ['Still there?'] }] },
    expect: () => ({ received: { turns: ['user: Hello', 'user: Still there?'] } }),
  },
  {
    name: 'a prefilled answer',
    section,
    skipsPassthrough: true,
    conversation: { turns: [hello, { role: 'assistant', parts: ['The answer is'] }] },
    expect: ({ to }) => {
      const turns = ['user: Hello', 'assistant: The answer is'];
      if (to === 'bedrock-converse')
        return { received: { turns: [...turns, 'user: Continue from where your last message ends.'] }, notes: ['adapted turns'] };
      return to === 'anthropic-messages' || to === 'gemini-generate-content' ? { received: { turns } } : { refused: '*' };
    },
  },
  {
    name: 'a refusal in the history',
    section,
    conversation: {
      turns: [hello, { role: 'assistant', parts: [{ refusal: 'I would rather not.' }] }, { role: 'user', parts: ['Please.'] }],
    },
    expect: ({ to }) => ({
      received: {
        turns: [
          'user: Hello',
          to === 'openai-chat' || to === 'openai-responses' ? 'assistant: refusal I would rather not.' : 'assistant: I would rather not.',
          'user: Please.',
        ],
      },
    }),
  },
];
