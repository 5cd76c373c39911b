import type { TranslationCase } from '../translation-case.ts';

const section = 'Replies';
const hello = { turns: [{ role: 'user', parts: ['Hello'] }] } as const;
const long = { turns: [{ role: 'user', parts: ['The river is long. '.repeat(300)] }] } as const;

/** Ways in which replies end, and their additional content. */
export const replyCases: readonly TranslationCase[] = [
  { name: 'a refusal', section, conversation: hello, steering: { stop: 'refusal' } },
  { name: 'a filter that stops the reply', section, conversation: hello, steering: { stop: 'content-filter' }, unchecked: ['text'] },
  { name: 'a reply cut at the output limit', section, conversation: hello, steering: { stop: 'max-tokens' } },
  { name: 'an empty reply', section, conversation: hello, steering: { text: '' } },
  { name: 'a pause of the vendor', section, conversation: hello, steering: { stop: 'pause' }, unchecked: ['stop'] },
  { name: 'a long reply', section, conversation: hello, steering: { 'output-tokens': '3000', pace: 'tokensPerFrame=7' } },
  { name: 'a prompt that is cached', section, conversation: { ...long, system: ['Seen before.'] } },
  { name: 'a prompt that is read from the cache', section, conversation: { ...long, system: ['Seen before.'] } },
  {
    name: 'an upstream without usage',
    section,
    conversation: hello,
    steering: { usage: 'absent' },
    isEstimated: true,
    unchecked: ['usage'],
  },
  { name: 'unknown events', section, skipsPassthrough: true, conversation: hello, steering: { fault: 'unknown-event' } },
  { name: 'unknown content', section, skipsPassthrough: true, conversation: hello, steering: { fault: 'unknown-block' } },
  { name: 'characters split by the network', section, conversation: hello, steering: { fault: 'split-utf8' } },
  { name: 'line ends of all kinds', section, conversation: hello, steering: { fault: 'line-ends;kind=mixed' } },
  { name: 'comments and heartbeats', section, conversation: hello, steering: { fault: 'line-ends;kind=comments' } },
  {
    name: 'a stream with a repeated end mark',
    section,
    skipsPassthrough: true,
    isStreamed: true,
    upstreams: ['anthropic-messages', 'openai-responses', 'openai-chat'],
    conversation: hello,
    steering: { fault: 'duplicate-sentinel' },
  },
];
