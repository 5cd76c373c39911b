import type { DialectEvents } from '../../../../dialects/chat-dialect.ts';
import { Frame, type StreamEvent } from '../../../../platform/frames.ts';
import { DeliveredCount } from '../../../attempts/exchange/client-disconnect.ts';
import type { ReplyForm } from './reply-form.ts';

/** A reply in events of its dialect. Passthrough forwards the upstream's own frame, with its bytes. */
export function createEventForm({ createEncoder, createCutter }: DialectEvents): Required<ReplyForm<StreamEvent>> {
  return {
    createWriter: (writing) => {
      const encoder = createEncoder(writing);
      const delivered = new DeliveredCount();
      return {
        write: (events) => events.flatMap((event) => delivered.encode(encoder, event)),
        open: () => [],
        deliveredCharacters: () => delivered.characters,
        position: encoder.position,
        kept: encoder.kept,
      };
    },
    passing: {
      pass: (frame) => frame,
      rest: (bytes) => (bytes.length === 0 ? [] : [new Frame(bytes, undefined, '')]),
      createCutter,
    },
    eventsOf: (events) => events,
  };
}
