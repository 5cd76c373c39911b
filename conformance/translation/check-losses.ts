import assert from 'node:assert/strict';

import type { UpstreamDialectId } from '../../src/dialects/dialect-id.ts';
import type { Conversation, Received, SpokenPart } from './conversation.ts';
import type { Wire } from './wire.ts';

/** Settings that a dialect cannot express and that change no answer: they may be omitted without a note. */
const meaningless: Readonly<Partial<Record<keyof Received, readonly UpstreamDialectId[]>>> = {
  user: ['gemini-generate-content'],
  // The usual value is the default.
  tier: ['anthropic-messages', 'openai-responses', 'openai-chat', 'gemini-generate-content', 'bedrock-converse'],
};

/**
 * Whether Converse says a setting by what is left out: it thinks only if asked, and calls only what it is offered. The
 * cases compare what is sent.
 */
function isLeftOut({ thinking, choice }: Conversation, to: UpstreamDialectId, name: (typeof settings)[number]): boolean {
  if (to !== 'bedrock-converse') return false;
  if (name === 'thinking') return thinking === 'off';
  const isForced = choice === 'required' || (typeof choice === 'object' && (!('required' in choice) || choice.required));
  return name === 'choice' && !isForced;
}

const settings = [
  'temperature',
  'topP',
  'topK',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'outputTokensMax',
  'stop',
  'user',
  'tier',
  'format',
  'parallel',
  'choice',
  'thinking',
  'search',
] as const satisfies readonly (keyof Conversation & keyof Received)[];

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);
}

/** The text of a part that must be somewhere in the upstream's request. */
function wordsOf(part: SpokenPart): readonly string[] {
  if (typeof part === 'string') return [part];
  if ('refusal' in part) return [part.refusal];
  if (!('result' in part)) return [];
  if (typeof part.content === 'string') return [part.content];
  return 'text' in part.content ? [part.content.text] : [];
}

/** Fails if a part of a conversation, or a setting without a warning, is missing in the upstream's request. */
export function checkLosses(options: {
  readonly conversation: Conversation;
  readonly to: UpstreamDialectId;
  readonly received: Received;
  readonly body: Wire;
  /** Whether a warning is about a setting. */
  readonly isNoted: (name: string) => boolean;
}): void {
  const { conversation, to, received, body, isNoted } = options;
  const written = JSON.stringify(body);
  // A member in the client's own spelling may repeat the rest.
  if (conversation.wire === undefined) {
    for (const words of [...(conversation.system ?? []), ...conversation.turns.flatMap(({ parts }) => parts.flatMap(wordsOf))]) {
      assert.ok(written.includes(JSON.stringify(words).slice(1, -1)), `the upstream received the text ${JSON.stringify(words)}`);
    }
  }
  for (const name of settings) {
    if (!isSaid(conversation[name]) || isSaid(received[name]) || isNoted(name) || isLeftOut(conversation, to, name)) continue;
    assert.ok(meaningless[name]?.includes(to), `${name} was not lost without a note`);
  }
}
