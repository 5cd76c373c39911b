import type { RecordedBody, RecordedChat } from '../../content/records/recorded-call.ts';
import type { CallRecorder, CallReport, EndedCall } from '../telemetry/call-report.ts';
import { recordReply, type ReplyTape } from './record-reply.ts';
import { RecordedWire, type RecordingMemory } from './recorded-wire.ts';

/** The bodies of an ended call, in memory of their own. */
type RecordedBodies = {
  readonly chat: RecordedChat | undefined;
  readonly request: RecordedBody | undefined;
  readonly reply: RecordedBody | undefined;
};

type Options = {
  readonly memory: RecordingMemory;
  /** The most bytes that are kept of each body. */
  readonly bytesMax: number;
  /** Receives the bodies. The memory that they took before is free again. */
  readonly onEnded: (call: EndedCall, bodies: RecordedBodies) => void;
};

/** Keeps the request and the reply of one call, as its client sent and received them. */
export function createCallRecorder(report: Pick<CallReport, 'response'>, { memory, bytesMax, onEnded }: Options): CallRecorder {
  const request = new RecordedWire(memory, bytesMax);
  let chat: RecordedChat | undefined;
  let tape: ReplyTape = { wire: new RecordedWire(memory, bytesMax), status: undefined, headers: {} };
  recordReply(report.response, tape);
  return {
    request: (bytes, ofChat) => {
      request.add(bytes);
      chat = ofChat;
    },
    follow: (reply) => {
      tape.wire.clear();
      tape = { wire: new RecordedWire(memory, bytesMax), status: undefined, headers: {} };
      recordReply(reply, tape);
    },
    attempt: (_request, handler) => handler,
    ended: (call) => {
      const reply = tape.wire.isEmpty ? undefined : tape.wire.body(tape.headers['content-type'] ?? '');
      const bodies = { chat, request: request.isEmpty ? undefined : request.body('application/json'), reply };
      request.clear();
      tape.wire.clear();
      onEnded(call, bodies);
    },
  };
}
