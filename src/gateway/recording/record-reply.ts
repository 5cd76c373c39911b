import { formatSse } from '../../platform/sse/encode-sse.ts';
import { Frame } from '../../platform/frames.ts';
import type { ClientReply } from '../replies/client-reply.ts';
import type { RecordedWire } from './recorded-wire.ts';

/** The reply of a call while it is written. */
export type ReplyTape = {
  readonly wire: RecordedWire;
  status: number | undefined;
  headers: Readonly<Record<string, string>>;
};

/**
 * Keeps what is written to a reply from now on. The methods of this one object are replaced, because every part of the
 * gateway that answers a call has it already: relays, errors, the tool loop.
 */
export function recordReply(reply: ClientReply, tape: ReplyTape): void {
  // Some replies end by writing their last bytes.
  let isEnding = false;
  const { writeHead, setHeader, write, end, takeEvents } = reply;
  const own: Partial<Record<keyof ClientReply, unknown>> = {
    writeHead: (status: number, headers: Readonly<Record<string, string>> | string[]) => {
      tape.status = status;
      tape.headers = { ...tape.headers, ...readHeaders(headers) };
      return writeHead.call(reply, status, headers);
    },
    setHeader: (name: string, value: string) => {
      tape.headers = { ...tape.headers, [name.toLowerCase()]: value };
      return setHeader.call(reply, name, value);
    },
    write: (bytes: Buffer) => {
      if (!isEnding) tape.wire.add(bytes);
      return write.call(reply, bytes);
    },
    end: (body?: Buffer | string, encoding?: 'latin1') => {
      if (body !== undefined) tape.wire.add(typeof body === 'string' ? Buffer.from(body, encoding) : body);
      isEnding = true;
      const ended: unknown = Reflect.apply(end, reply, body === undefined ? [] : [body, encoding]);
      return ended;
    },
  };
  if (takeEvents !== undefined) {
    own.takeEvents = (events: Parameters<typeof takeEvents>[0]) => {
      for (const event of events) tape.wire.add(event instanceof Frame ? event.bytes : Buffer.from(formatSse(event)));
      return takeEvents.call(reply, events);
    };
  }
  Object.assign(reply, own);
}

/** Headers of a head: a record, or names and values in turn. */
function readHeaders(headers: Readonly<Record<string, string>> | string[]): Readonly<Record<string, string>> {
  if (!Array.isArray(headers)) return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const read: Record<string, string> = {};
  for (let index = 0; index + 1 < headers.length; index += 2) read[(headers[index] ?? '').toLowerCase()] = headers[index + 1] ?? '';
  return read;
}
