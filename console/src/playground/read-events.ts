import type { StreamEvent } from './conversation.ts';

/**
 * Reads a stream of server-sent events in pieces of any size.
 * @returns a function that takes a piece and returns the events that it completed. `''` with `last` ends the stream.
 */
export function createEventReader(): (piece: string, last?: boolean) => readonly StreamEvent[] {
  let rest = '';
  return (piece, last = false) => {
    rest += piece;
    const events: StreamEvent[] = [];
    for (;;) {
      const end = /\r?\n\r?\n|\r\r/.exec(rest);
      if (end === null) break;
      add(events, rest.slice(0, end.index));
      rest = rest.slice(end.index + end[0].length);
    }
    if (last && rest.trim() !== '') {
      add(events, rest);
      rest = '';
    }
    return events;
  };
}

function add(events: StreamEvent[], block: string): void {
  const data: string[] = [];
  let event: string | undefined;
  for (const line of block.split(/\r\n|\r|\n/)) {
    const [, name, value = ''] = /^(event|data):? ?(.*)$/.exec(line) ?? [];
    if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
  }
  if (data.length > 0 || event !== undefined) events.push({ event, data: data.join('\n') });
}

/** All events of a whole text. */
export function readEvents(text: string): readonly StreamEvent[] {
  return createEventReader()(text, true);
}
