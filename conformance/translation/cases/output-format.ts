import * as samples from '../samples.ts';
import type { Expectation, TranslationCase } from '../translation-case.ts';

const section = 'Structured output';
const request = { turns: [{ role: 'user', parts: ['Answer in JSON: which city?'] }] } as const;
const guaranteesNoJson: readonly string[] = ['anthropic-messages', 'bedrock-converse'];
const format = { name: 'city', schema: samples.citySchema };

/** A forced tool replaces the schema: its arguments are the answer, and the client sees no call. */
const byForcedTool: Expectation = {
  notes: ['emulated format'],
  said: ({ toolCalls }) => ({ text: JSON.stringify(toolCalls[0]?.arguments), calls: [], stop: 'end' }),
};

/** Answers for programs. */
export const outputFormatCases: readonly TranslationCase[] = [
  {
    name: 'an answer by a JSON Schema',
    section,
    conversation: { ...request, format },
    expect: ({ to }) => (to === 'bedrock-converse' ? byForcedTool : { received: { format: samples.citySchema } }),
  },
  {
    name: 'an answer by a JSON Schema, strictly enforced',
    section,
    conversation: { ...request, format: { ...format, strict: true } },
    expect: ({ to }) => (to === 'bedrock-converse' ? byForcedTool : { received: { format: samples.citySchema } }),
  },
  {
    name: 'an answer by a JSON Schema, from a model without schemas',
    section,
    model: 'limited',
    skipsPassthrough: true,
    conversation: { ...request, format },
    expect: ({ to }) => {
      if (to === 'gemini-generate-content') return {};
      // Llama cannot be forced to call a function, so the prompt asks for the format.
      return to === 'bedrock-converse' ? { notes: ['emulated format'] } : byForcedTool;
    },
  },
  {
    name: 'an answer in JSON',
    section,
    conversation: { ...request, format: 'json' },
    unchecked: ['text'],
    expect: ({ to }) => (guaranteesNoJson.includes(to) ? { notes: ['emulated format'] } : { received: { format: 'json' } }),
  },
];
