import type { IncomingMessage } from 'node:http';

import type { RawWires } from '../../content/captures/wires.ts';
import type { RecordedBody, RecordedChat } from '../../content/records/recorded-call.ts';
import type { CallRecorder, CallReport, EndedCall } from '../telemetry/call-report.ts';
import { recordReply, type ReplyTape } from './record-reply.ts';
import { joinHeaders, RecordedAttempt } from './recorded-attempt.ts';
import { RecordedWire, type RecordingMemory } from './recorded-wire.ts';

/** The bodies of an ended call, in memory of their own. */
type RecordedBodies = {
  readonly chat: RecordedChat | undefined;
  readonly request: RecordedBody | undefined;
  readonly reply: RecordedBody | undefined;
  /** Undefined unless they were asked for. */
  readonly wires: RawWires | undefined;
  /** The credentials of the client and of upstreams that the wires may contain. */
  readonly credentials: readonly string[];
};

type Options = {
  readonly memory: RecordingMemory;
  /** The most bytes that are kept of each body. */
  readonly bytesMax: number;
  /** The client's request, if the wires are kept, and the most bytes of each wire to an upstream. */
  readonly wires?: { readonly request: IncomingMessage; readonly bytesMax: number };
  /** Receives the bodies. The memory that they took before is free again. */
  readonly onEnded: (call: EndedCall, bodies: RecordedBodies) => void;
};

/** Keeps the request and the reply of one call, as its client sent and received them, and the wires if ordered. */
export function createCallRecorder(report: Pick<CallReport, 'response'>, options: Options): CallRecorder {
  const { memory, bytesMax, onEnded, wires } = options;
  const request = new RecordedWire(memory, bytesMax);
  const attempt = wires === undefined ? undefined : new RecordedAttempt(memory, wires.bytesMax);
  const credentials = wires === undefined ? [] : credentialsOf(wires.request);
  let chat: RecordedChat | undefined;
  const beginTape = (): ReplyTape => ({ wire: new RecordedWire(memory, bytesMax), status: undefined, headers: {} });
  let tape = beginTape();
  recordReply(report.response, tape);
  const readWires = (call: EndedCall): RawWires | undefined => {
    if (wires === undefined) return undefined;
    const { method = '', url = '', headers } = wires.request;
    const { status = call.status, headers: replied, wire } = tape;
    return {
      client_request: { start: `${method} ${url}`, headers: joinHeaders(headers), body: request.body('') },
      ...attempt?.wires(),
      ...(status === undefined ? {} : { client_reply: { start: String(status), headers: replied, body: wire.body('') } }),
    };
  };
  return {
    request: (bytes, ofChat) => {
      request.add(bytes);
      chat = ofChat;
    },
    follow: (reply) => {
      tape.wire.clear();
      tape = beginTape();
      recordReply(reply, tape);
    },
    attempt: (sent, handler, credential) => {
      if (credential !== undefined && !credentials.includes(credential)) credentials.push(credential);
      return attempt === undefined ? handler : attempt.begin(sent, handler);
    },
    ended: (call) => {
      const reply = tape.wire.isEmpty ? undefined : tape.wire.body(tape.headers['content-type'] ?? '');
      const kept = request.isEmpty ? undefined : request.body('application/json');
      const bodies = { chat, request: kept, reply, wires: readWires(call), credentials };
      request.clear();
      tape.wire.clear();
      attempt?.clear();
      onEnded(call, bodies);
    },
  };
}

/** The credentials that a client has presented, in any of the ways in which it may. */
function credentialsOf({ headers, url = '' }: IncomingMessage): string[] {
  const named = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'token'].flatMap((name) => headers[name] ?? []);
  const inQuery = new URLSearchParams(url.split('?', 2)[1] ?? '').getAll('key');
  return [...named.map((value) => value.replace(/^\w+\s+/, '')), ...inQuery];
}
