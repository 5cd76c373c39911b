import assert from 'node:assert/strict';

import type { DialectId } from '../../src/dialects/dialect-id.ts';
import type { Truth } from '../support/audit.ts';
import type { Received, ClientView, Stop } from './conversation.ts';
import type { Expectation, Pair, PlannedReply, TranslationCase } from './translation-case.ts';
import { receiveAs } from './upstreams/upstreams.ts';
import type { Wire } from './wire.ts';

type ReceivedCheck = {
  readonly pair: Pair;
  readonly expectation: Expectation;
  readonly truth: Truth;
  readonly sent: Wire;
  readonly upstreamModel: string;
};

/**
 * Passthrough sends the client's request with the upstream's name of the model. A chat stream also requests its usage.
 */
function checkPassed({ pair, truth, sent, upstreamModel }: ReceivedCheck): void {
  const named = pair.to === 'gemini-generate-content' ? {} : { model: upstreamModel };
  assert.deepEqual(truth.requestBody, { ...sent, ...named });
}

const isText = (part: string): boolean => !/^\w+: (?:\[|call |(?:failed )?result |thought |refusal )/.test(part);

/** Consecutive texts of one speaker count as one, whatever separates them. */
function joinTexts(parts: readonly string[]): readonly string[] {
  const joined: string[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    const text = isText(part) ? part.replaceAll('\n\n', '') : part;
    const [role = ''] = part.split(':');
    if (last?.startsWith(`${role}:`) === true && isText(last) && isText(part))
      joined[joined.length - 1] = last + text.slice(role.length + 2);
    else joined.push(text);
  }
  return joined;
}

/**
 * Compares the upstream's request with the expected one. The simulator has already validated it, because it is strict.
 */
export function checkReceived(check: ReceivedCheck): void {
  const { pair, expectation, truth } = check;
  if (pair.from === pair.to) {
    checkPassed(check);
    return;
  }
  const received = receiveAs[pair.to](truth.requestBody);
  for (const [name, value] of Object.entries(expectation.received ?? {})) {
    const actual = received[name as keyof Received];
    if (name === 'turns')
      assert.deepEqual(joinTexts(received.turns), joinTexts(expectation.received?.turns ?? []), 'turns that the upstream received');
    else assert.deepEqual(actual, value, `${name} that the upstream received`);
  }
}

/** Formats that cannot express a stop sequence report that the reply has ended, and some upstreams do so already. */
function stopOf({ stop }: PlannedReply, { from, to }: Pair): Stop {
  const stops: Readonly<Record<PlannedReply['stop'], Stop>> = {
    end: 'end',
    'max-tokens': 'length',
    'stop-sequence': from === 'anthropic-messages' && to === 'anthropic-messages' ? 'stop-sequence' : 'end',
    'tool-use': 'calls',
    refusal: 'refusal',
    'content-filter': 'refusal',
    pause: from === 'anthropic-messages' && to === 'anthropic-messages' ? 'pause' : 'end',
  };
  return stops[stop];
}

/** Values that some formats cannot express. */
const saysReasoningTokens: readonly DialectId[] = ['openai-responses', 'openai-chat', 'gemini-generate-content'];

function usageOf({ plannedUsage }: Truth, { from, to }: Pair): ClientView['usage'] {
  assert.ok(plannedUsage, 'the upstream has usage');
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens } = plannedUsage;
  return {
    input: inputTokens + cacheReadTokens + cacheWriteTokens,
    cached: cacheReadTokens,
    output: outputTokens,
    // Converse counts the tokens of thoughts as output.
    reasoning: saysReasoningTokens.includes(from) && to !== 'bedrock-converse' ? reasoningTokens : 0,
  };
}

type ViewCheck = {
  readonly one: TranslationCase;
  readonly pair: Pair;
  readonly truth: Truth;
  readonly said: ClientView;
  readonly expectation: Expectation;
};

/** Compares the client's view of the reply with the upstream's plan. */
export function checkClientView({ one, pair, truth, said, expectation }: ViewCheck): void {
  const planned = truth.plannedReply;
  assert.ok(planned, 'the upstream answered');
  const { unchecked = [], conversation } = one;
  const expected = typeof expectation.said === 'function' ? expectation.said(planned) : (expectation.said ?? {});
  const sent = pair.from === pair.to ? [] : receiveAs[pair.to](truth.requestBody).tools;
  // Functions whose names the upstream would refuse are sent under other names, and returned under their own.
  const nameOf = (name: string): string => conversation.tools?.[sent.indexOf(name)]?.name ?? name;
  const isBlocked = pair.to === 'gemini-generate-content' && planned.stop === 'refusal';
  const meant: Partial<ClientView> = {
    text: planned.text ?? '',
    calls: planned.toolCalls.map(({ name, arguments: args }) => ({ id: '', name: nameOf(name), arguments: args })),
    stop: stopOf(planned, pair),
    ...expected,
  };
  for (const name of unchecked) delete meant[name];
  const { text, calls, ...others } = meant;
  // Formats differ in whether the text of a refusal has a type of its own.
  const words = (text ?? '') + (expected.text === undefined && !isBlocked ? (planned.refusal ?? '') : '');
  if (text !== undefined) assert.equal(said.text + said.refusal, words, 'the text');
  if (calls !== undefined) {
    assert.deepEqual(
      said.calls.map(({ name, arguments: args }) => ({ name, arguments: args })),
      calls.map(({ name, arguments: args }) => ({ name, arguments: args })),
      'the calls',
    );
    const ids = said.calls.map(({ id }) => id).filter((id) => id !== '');
    assert.equal(new Set(ids).size, ids.length, 'ids of calls are unique');
  }
  for (const [name, value] of Object.entries(others))
    assert.deepEqual(said[name as keyof ClientView], value, `${name} that the client received`);
  const countsOtherwise = pair.from === pair.to && pair.from === 'openai-chat' && one.model === 'thinker';
  if (!countsOtherwise && !unchecked.includes('usage') && expected.usage === undefined) checkUsage(truth, said, pair);
}

function checkUsage(truth: Truth, said: ClientView, pair: Pair): void {
  const expected = usageOf(truth, pair);
  const reasoning = saysReasoningTokens.includes(pair.from) ? said.usage?.reasoning : 0;
  assert.deepEqual(said.usage === undefined ? undefined : { ...said.usage, reasoning }, expected, 'the usage');
}
