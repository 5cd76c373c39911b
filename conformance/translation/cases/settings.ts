import type { Pair, TranslationCase } from '../translation-case.ts';

const section = 'Settings';
const hello = { turns: [{ role: 'user', parts: ['Hello'] }] } as const;
const dropsIn =
  (name: string, ...without: readonly string[]): NonNullable<TranslationCase['expect']> =>
  ({ to }) =>
    without.includes(to) ? { notes: [`dropped ${name}`] } : {};
const withoutPenalties = ['anthropic-messages', 'openai-responses', 'bedrock-converse'] as const;
const stopText = { text: encodeURIComponent('One two STOPHERE three four'), pace: 'tokensPerFrame=1' };

/** The stop reason that a client gets if the upstream does not report that it stopped at a sequence. */
const untold = ({ from, to }: Pair): readonly string[] =>
  from === 'anthropic-messages' && ['openai-chat', 'gemini-generate-content', 'bedrock-converse'].includes(to) ? ['adapted stop'] : [];

/** The stop sequence ended the reply: Messages names the sequence, if it is known. */
const stopped: NonNullable<TranslationCase['expect']> = ({ from, to }) => {
  const isKnown = from === 'anthropic-messages' && ['anthropic-messages', 'openai-responses', 'bedrock-converse'].includes(to);
  const said = { text: 'One two ', stop: isKnown ? ('stop-sequence' as const) : ('end' as const) };
  if (to === 'openai-responses') return { said, notes: ['emulated stop'], received: { stop: [] } };
  return { said, notes: untold({ from, to }), received: { stop: ['STOPHERE'] } };
};

/** Limits, sampling, and other settings of a reply. */
export const settingCases: readonly TranslationCase[] = [
  {
    name: 'an output limit',
    section,
    conversation: { ...hello, outputTokensMax: 300 },
    expect: () => ({ received: { outputTokensMax: 300 } }),
  },
  {
    name: 'no output limit',
    section,
    conversation: hello,
    expect: ({ from, to }) => {
      // Clients of Messages must set a limit, and its upstreams require one: without a client's limit it is the model's
      // maximum.
      const limit = from === 'anthropic-messages' ? 1000 : to === 'anthropic-messages' ? 64_000 : undefined;
      return { received: { outputTokensMax: limit } };
    },
  },
  {
    name: 'a reply that reaches the output limit',
    section,
    conversation: { ...hello, outputTokensMax: 20 },
    steering: { 'output-tokens': '60' },
    expect: () => ({ received: { outputTokensMax: 20 } }),
  },
  {
    name: 'an output limit of five tokens',
    section,
    skipsPassthrough: true,
    conversation: { ...hello, outputTokensMax: 5 },
    expect: ({ to }) =>
      to === 'openai-responses'
        ? { notes: ['adapted outputTokensMax'], received: { outputTokensMax: 16 } }
        : { received: { outputTokensMax: 5 } },
  },
  { name: 'temperature', section, conversation: { ...hello, temperature: 0.5 }, expect: () => ({ received: { temperature: 0.5 } }) },
  {
    name: 'temperature above 1',
    section,
    conversation: { ...hello, temperature: 1.5 },
    expect: ({ to }) =>
      to === 'anthropic-messages' || to === 'bedrock-converse'
        ? { notes: ['adapted temperature'], received: { temperature: 1 } }
        : { received: { temperature: 1.5 } },
  },
  {
    name: 'temperature for a model without it',
    section,
    model: 'thinker',
    skipsPassthrough: true,
    conversation: { ...hello, temperature: 0.5 },
    expect: ({ to }) =>
      to === 'openai-responses'
        ? { notes: ['dropped temperature'], received: { temperature: undefined } }
        : { received: { temperature: 0.5 } },
  },
  { name: 'top-p', section, conversation: { ...hello, topP: 0.9 }, expect: () => ({ received: { topP: 0.9 } }) },
  {
    name: 'top-k',
    section,
    conversation: { ...hello, topK: 40 },
    expect: dropsIn('topK', 'openai-responses', 'openai-chat'),
  },
  {
    name: 'top-k, strictly',
    section,
    isStrict: true,
    conversation: { ...hello, topK: 40 },
    expect: ({ to }) => (to === 'openai-responses' || to === 'openai-chat' ? { refused: 'topK' } : { received: { topK: 40 } }),
  },
  { name: 'a seed', section, conversation: { ...hello, seed: 7 }, expect: dropsIn('seed', ...withoutPenalties) },
  {
    name: 'a presence penalty',
    section,
    conversation: { ...hello, presencePenalty: 0.5 },
    expect: dropsIn('presencePenalty', ...withoutPenalties),
  },
  {
    name: 'a frequency penalty',
    section,
    conversation: { ...hello, frequencyPenalty: 0.5 },
    expect: dropsIn('frequencyPenalty', ...withoutPenalties),
  },
  {
    name: 'a stop sequence',
    section,
    conversation: { ...hello, stop: ['STOPHERE'] },
    steering: stopText,
    isEstimated: true,
    unchecked: ['usage'],
    expect: stopped,
  },
  {
    name: 'a stop sequence that does not occur',
    section,
    conversation: { ...hello, stop: ['NEVER'] },
    expect: (pair) =>
      pair.to === 'openai-responses' ? { notes: ['emulated stop'] } : { notes: untold(pair), received: { stop: ['NEVER'] } },
  },
  {
    name: 'six stop sequences',
    section,
    skipsPassthrough: true,
    isEstimated: true,
    unchecked: ['usage', 'stop'],
    conversation: { ...hello, stop: ['S1', 'S2', 'S3', 'S4', 'S5', 'STOPHERE'] },
    steering: stopText,
    only: ['anthropic-messages'],
    expect: (pair) => (pair.to === 'anthropic-messages' ? {} : { notes: ['emulated stop', ...untold(pair)], said: { text: 'One two ' } }),
  },
  {
    name: 'a name of the end user',
    section,
    conversation: { ...hello, user: 'user-1' },
    expect: ({ to }) =>
      to === 'gemini-generate-content' || to === 'bedrock-converse' ? { notes: ['dropped user'] } : { received: { user: 'user-1' } },
  },
  {
    name: 'a cheaper service tier',
    section,
    conversation: { ...hello, tier: 'flex' },
    expect: ({ to }) => (to === 'anthropic-messages' ? { notes: ['adapted tier'] } : { received: { tier: 'flex' } }),
  },
  { name: 'the usual service tier', section, conversation: { ...hello, tier: 'default' } },
];
