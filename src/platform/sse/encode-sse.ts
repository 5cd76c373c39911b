import type { StreamEvent } from '../frames.ts';

export type SseEvent = {
  /** The `event:` field; without line breaks. */
  readonly event?: string;
  /** The payload; each of its lines becomes a `data:` line. */
  readonly data: string;
  /** How lines end; LF if absent. */
  readonly newline?: '\n' | '\r\n';
};

/**
 * Writes one server-sent event, its blank line included.
 *
 * @throws RangeError when the event name holds a line break, which would let it forge other fields
 */
export function encodeSse({ event, data, newline = '\n' }: SseEvent): Buffer {
  if (event !== undefined && /[\r\n]/.test(event)) throw new RangeError('an event name must not hold a line break');
  const head = event === undefined ? '' : `event: ${event}${newline}`;
  const lines = /[\r\n]/.test(data) ? data.split(/\r\n|\r|\n/).join(`${newline}data: `) : data;
  return Buffer.from(`${head}data: ${lines}${newline}${newline}`);
}

/** Writes an event of the gateway's own, whose name and payload have no line breaks. */
export function formatSse({ event, data }: Pick<StreamEvent, 'event' | 'data'>): string {
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`;
}
