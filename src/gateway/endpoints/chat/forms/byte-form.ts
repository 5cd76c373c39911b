import type { ChatDialect } from '../../../../dialects/chat-dialect.ts';
import type { StreamFraming } from '../../../../platform/frames.ts';
import { DeliveredCount } from '../../../attempts/exchange/client-disconnect.ts';
import type { ReplyForm } from './reply-form.ts';

const inBytes = (text: string): readonly Buffer[] => (text === '' ? [] : [Buffer.from(text)]);

/** A reply in bytes. Passthrough forwards the received bytes. */
export function createByteForm(
  { codec, createStreamCutter }: ChatDialect,
  framing: StreamFraming,
): ReplyForm<Buffer> & Pick<Required<ReplyForm<Buffer>>, 'passing'> {
  return {
    createWriter: (writing) => {
      const encoder = codec.createEventEncoder(writing, framing);
      const delivered = new DeliveredCount();
      return {
        write: (events) => inBytes(events.map((event) => delivered.encode(encoder, event)).join('')),
        open: () => inBytes(encoder.open?.() ?? ''),
        deliveredCharacters: () => delivered.characters,
        position: encoder.position,
        kept: encoder.kept,
      };
    },
    passing: {
      pass: ({ bytes }) => bytes,
      rest: (bytes) => (bytes.length === 0 ? [] : [bytes]),
      createCutter: (options) => {
        const { pass, end } = createStreamCutter(options);
        return { pass, end: (usage) => [end(usage)] };
      },
    },
  };
}
