import { editMembers } from '../../../../platform/json/edit-members.ts';
import { applyJsonEdits } from '../../../../platform/json/json-edits.ts';
import { membersOf } from '../../../../platform/json/json-readers.ts';
import { parseIfJson } from '../../../../platform/json/parse-if-json.ts';
import { Frame } from '../../../../platform/frames.ts';
import type { ReplyRelay } from '../../../attempts/exchange/reply-relay.ts';

/**
 * A relay of Messages whose replies name the model as the client did. Claude Code sends the thoughts of a turn back
 * only if the turn has the name of the model that it calls, and the vendor refuses a tool loop without them. Clouds
 * and routes have other names for it.
 */
export function nameReplies<Piece>(relay: ReplyRelay<Piece>, model: string): ReplyRelay<Piece> {
  return {
    ...relay,
    writeReply: (reply, bytes, charged) => nameModel(relay.writeReply(reply, bytes, charged), [], model),
    openStream: (...options) => {
      const stream = relay.openStream(...options);
      return { ...stream, read: (frame) => stream.read(frame.event === 'message_start' ? nameFrame(frame, model) : frame) };
    },
  };
}

/** Replaces the model of an object within a text. A text without one stays. */
function nameModel(bytes: Buffer, path: readonly string[], model: string): Buffer {
  const body = membersOf(parseIfJson(bytes));
  const message = path.reduce((object, name) => membersOf(object[name]), body);
  if (message['model'] === undefined) return bytes;
  return applyJsonEdits(bytes, editMembers({ body, bytes }, { path, set: { model: JSON.stringify(model) } }));
}

/** The event that opens a stream. Its data is one line. */
function nameFrame(frame: Frame, model: string): Frame {
  const data = nameModel(Buffer.from(frame.data), ['message'], model).toString();
  return new Frame(Buffer.from(frame.bytes.toString().replace(frame.data, () => data)), frame.event, data);
}
