import * as samples from '../samples.ts';
import type { PlannedReply, TranslationCase } from '../translation-case.ts';

const section = 'Structured output';
const request = { turns: [{ role: 'user', parts: ['Answer in JSON: which city?'] }] } as const;
const format = { name: 'city', schema: samples.citySchema };

/** Answers for programs. */
export const outputFormatCases: readonly TranslationCase[] = [
  {
    name: 'an answer by a JSON Schema',
    section,
    conversation: { ...request, format },
    expect: () => ({ received: { format: samples.citySchema } }),
  },
  {
    name: 'an answer by a JSON Schema, strictly enforced',
    section,
    conversation: { ...request, format: { ...format, strict: true } },
    expect: () => ({ received: { format: samples.citySchema } }),
  },
  {
    name: 'an answer by a JSON Schema, from a model without schemas',
    section,
    model: 'limited',
    skipsPassthrough: true,
    conversation: { ...request, format },
    expect: ({ to }) => {
      if (to === 'gemini-generate-content') return {};
      // A forced tool replaces the schema: its arguments are the answer, and the client sees no call.
      const said = ({ toolCalls }: PlannedReply) => ({ text: JSON.stringify(toolCalls[0]?.arguments), calls: [], stop: 'end' as const });
      return { notes: ['emulated format'], said };
    },
  },
  {
    name: 'an answer in JSON',
    section,
    conversation: { ...request, format: 'json' },
    unchecked: ['text'],
    expect: ({ to }) => (to === 'anthropic-messages' ? { notes: ['emulated format'] } : { received: { format: 'json' } }),
  },
];
