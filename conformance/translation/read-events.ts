import assert from 'node:assert/strict';

import type { Wire } from './wire.ts';

export type ReadEvent = { readonly name: string | undefined; readonly data: Wire };

/**
 * Reads a body of server-sent events as a browser would: the JSON of each. Data that is not JSON stays text (`[DONE]`).
 */
export function readEvents(text: string): readonly ReadEvent[] {
  const events: ReadEvent[] = [];
  const blocks = text.replaceAll(/\r\n|\r/g, '\n').split('\n\n');
  assert.equal(blocks.pop()?.trim(), '', 'the last event is whole');
  for (const block of blocks) {
    const lines = block.split('\n').filter((line) => line !== '' && !line.startsWith(':'));
    if (lines.length === 0) continue;
    const field = (name: string): readonly string[] =>
      lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ''));
    const data = field('data').join('\n');
    assert.notEqual(data, '', `an event without data: ${block}`);
    events.push({ name: field('event')[0], data: data.startsWith('{') ? JSON.parse(data) : data });
  }
  return events;
}
