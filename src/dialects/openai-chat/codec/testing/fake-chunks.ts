import { assertEventGrammar } from '../../../../inference/assert-event-grammar.ts';
import { foldEvents } from '../../../../inference/fold-events.ts';
import { decodeChunks } from './test-kit.ts';

/** A chunk of a stream with one choice. */
export const chunk = (delta: unknown, finishReason: unknown = null): unknown => ({
  id: 'c1',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finishReason }],
});

/** The chunk that ends a reply. */
export const stop = chunk({}, 'stop');

/** A chunk with one entry of `tool_calls`. */
export const call = (members: object, name?: string, args?: unknown): unknown =>
  chunk({ tool_calls: [{ ...members, type: 'function', function: { ...(name !== undefined && { name }), arguments: args } }] });

/** The part that such a call is read as. */
export const callPart = (id: string, name: string, args: string): object => ({ kind: 'tool-call', id, name, arguments: args });

/** The parts that chunks add up to. Checks that their events are valid. */
export function partsOf(chunks: readonly unknown[]): unknown {
  const events = decodeChunks(chunks);
  assertEventGrammar(events);
  return foldEvents(events).parts;
}
