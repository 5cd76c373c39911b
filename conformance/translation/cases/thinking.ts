import { signThought } from '../../../simulator/src/vendors/gemini/thought-signature.ts';
import * as samples from '../samples.ts';
import type { Expectation, Pair, PlannedReply, TranslationCase } from '../translation-case.ts';

const section = 'Thinking';
const request = { turns: [{ role: 'user', parts: ['What is the weather in Oslo?'] }] } as const;
const looped = { ...request, tools: [samples.weatherTool], thinking: { effort: 'medium' } } as const;
const thoughts = { reasoning: encodeURIComponent('First 世界, then 😀.') };

/** The vendor's own thoughts are sent back to it byte for byte. */
function proven({ to }: Pair, first: PlannedReply): Expectation {
  const { text = '', signature = '' } = first.reasoning ?? {};
  const proofs: Readonly<Record<Pair['to'], readonly string[]>> = {
    'anthropic-messages': [signature],
    'openai-responses': [signature],
    'openai-chat': [],
    'gemini-generate-content': [signThought(text)],
    'bedrock-converse': [signature],
  };
  return { received: { proofs: proofs[to] } };
}

/** Thoughts, their amount, and their way back to their vendor. */
export const thinkingCases: readonly TranslationCase[] = [
  {
    name: 'thinking with an effort',
    section,
    model: 'thinker',
    conversation: { ...request, thinking: { effort: 'high' } },
    steering: thoughts,
    expect: ({ from, to }) => {
      // Chat completions have no field that requests visible thoughts: thoughts are shown if the vendor shows them by
      // default.
      const isShown = from !== 'openai-chat' || to === 'anthropic-messages' || to === 'openai-chat';
      // At the highest effort Nova accepts no output limit, which Messages always has.
      const isLowered = from === 'anthropic-messages' && to === 'bedrock-converse';
      return {
        received: { thinking: to === 'anthropic-messages' ? 'budget 16384' : isLowered ? 'effort medium' : 'effort high' },
        ...(isLowered ? { notes: ['adapted thinking'] } : {}),
        ...(isShown ? { said: { reasoning: 'First 世界, then 😀.' } } : {}),
      };
    },
  },
  {
    name: 'thinking with an effort that the model does not support',
    section,
    model: 'thinker',
    only: ['openai-responses', 'openai-chat'],
    skipsPassthrough: true,
    conversation: { ...request, thinking: { effort: 'xhigh' } },
    expect: ({ to }) => (to === 'anthropic-messages' ? {} : { received: { thinking: 'effort high' }, notes: ['adapted thinking'] }),
  },
  {
    name: 'thinking with a budget',
    section,
    model: 'thinker',
    only: ['anthropic-messages', 'gemini-generate-content'],
    conversation: { ...request, thinking: { budget: 8192 }, outputTokensMax: 10_000 },
    expect: ({ to }) => ({
      received: to === 'anthropic-messages' ? { thinking: 'budget 8192' } : { thinking: 'effort medium' },
    }),
  },
  {
    name: 'no thinking',
    section,
    model: 'thinker',
    skipsPassthrough: true,
    conversation: { ...request, thinking: 'off' },
    expect: ({ to }) => {
      if (to === 'openai-responses' || to === 'gemini-generate-content')
        return { received: { thinking: 'effort minimal' }, notes: ['adapted thinking'] };
      if (to === 'bedrock-converse') return { received: { thinking: '' } };
      return to === 'openai-chat' ? { received: { thinking: 'off' } } : {};
    },
  },
  {
    name: 'thinking, of a model without thinking',
    section,
    skipsPassthrough: true,
    only: ['openai-responses', 'openai-chat'],
    conversation: { ...request, thinking: { effort: 'high' } },
    expect: ({ to }) =>
      to === 'openai-responses' || to === 'openai-chat' || to === 'bedrock-converse'
        ? { notes: ['dropped thinking'], received: { thinking: '' } }
        : {},
  },
  {
    name: 'thinking with a call, which is answered',
    section,
    model: 'thinker',
    conversation: looped,
    steering: { ...thoughts, 'tool-calls': '1' },
    continued: proven,
  },
  {
    name: 'thinking with two calls, which are answered',
    section,
    model: 'thinker',
    conversation: { ...looped, tools: [samples.weatherTool, samples.timeTool] },
    steering: { ...thoughts, 'tool-calls': '2', text: 'Let%20me%20look.' },
    continued: proven,
  },
  {
    name: 'thinking with a call, which a client without memory answers',
    section,
    model: 'thinker',
    only: ['anthropic-messages', 'openai-responses', 'openai-chat'],
    skipsPassthrough: true,
    conversation: looped,
    steering: { ...thoughts, 'tool-calls': '1' },
    forgetsThoughts: true,
    continued: proven,
  },
];
