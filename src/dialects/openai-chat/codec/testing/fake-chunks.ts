import { assertEventGrammar } from '../../../../inference/assert-event-grammar.ts';
import { foldEvents } from '../../../../inference/fold-events.ts';
import { decodeChunks } from './test-kit.ts';

/** A chunk of a stream with one choice. */
export const chunk = (delta: unknown, finishReason: unknown = null): unknown => ({
  id: 'c1',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finishReason }],
});

/** The chunk that says that the reply has ended. */
export const stop = chunk({}, 'stop');

/** A chunk with one entry of `tool_calls`. */
export const call = (members: object, name?: string, args?: unknown): unknown =>
  chunk({ tool_calls: [{ ...members, type: 'function', function: { ...(name !== undefined && { name }), arguments: args } }] });

/** A call as it should be read. */
export const madeCall = (id: string, name: string, args: string): object => ({ kind: 'tool-call', id, name, arguments: args });

/** The parts that chunks add up to, after a look at the grammar of their events. */
export function partsOf(chunks: readonly unknown[]): unknown {
  const events = decodeChunks(chunks);
  assertEventGrammar(events);
  return foldEvents(events).parts;
}
