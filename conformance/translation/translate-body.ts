import type { ChatDialect, StreamReport, UpstreamDialect } from '../../src/dialects/chat-dialect.ts';
import { createByteForm } from '../../src/gateway/endpoints/chat/reply-form.ts';
import { createTranslatedStream } from '../../src/gateway/endpoints/chat/translate/translated-stream.ts';
import type { Translation } from '../../src/gateway/endpoints/chat/translate/prepare-translation.ts';
import { createTranslationNotes } from '../../src/inference/translation-notes.ts';
import type { StreamFraming } from '../../src/platform/frames.ts';
import { createSseFrameReader } from '../../src/platform/sse/sse-frame-reader.ts';

/** A translation of a reply, as the gateway sets it up, with ids that are the same in every run. */
function createTestTranslation(client: ChatDialect, upstream: UpstreamDialect, framing: StreamFraming): Translation {
  let lastId = 0;
  const newId = (prefix: string): string => `${prefix}_${String(++lastId).padStart(8, '0')}`;
  const notes = createTranslationNotes(client.codec.fieldNames, false);
  const request = client.id === 'openai-chat' ? { stream: true, stream_options: { include_usage: true } } : { stream: true };
  return {
    client,
    upstream,
    encoded: { body: {} },
    reading: { proofOrigin: 'vendor', newId, notes },
    writing: {
      requestId: 'req_1',
      requestedModel: 'model',
      request,
      createdAtMs: 1_785_963_542_000,
      nowMs: () => 0,
      inputTokensEstimate: 7,
      newId,
      notes,
    },
    notes,
    replyNotes: notes,
    framing,
    correctUsage: (report) => report,
    rememberProofs: () => undefined,
  };
}

/** A client's stream while its upstream's body arrives. */
export type BodyTranslator = {
  readonly push: (chunk: Buffer) => void;
  /**
   * The work of the exchange when the body has ended: a stream that is complete for its vendor is ended, another stays
   * as it is.
   */
  readonly end: () => void;
  readonly state: () => StreamReport['state'];
  readonly text: () => string;
};

const frameBytesMax = 1_000_000;
const replyBytesMax = 1_000_000;

export function translateBody(client: ChatDialect, upstream: UpstreamDialect, framing: StreamFraming): BodyTranslator {
  const stream = createTranslatedStream(createTestTranslation(client, upstream, framing), createByteForm(client, framing), {
    replyBytesMax,
  });
  const reader = createSseFrameReader({ frameBytesMax });
  let text = '';
  return {
    push: (chunk) => {
      for (const frame of reader.push(chunk)) text += Buffer.concat(stream.read(frame)).toString();
    },
    end: () => {
      if (stream.state() === 'complete') text += Buffer.concat(stream.end(Buffer.alloc(0))).toString();
    },
    state: stream.state,
    text: () => text,
  };
}
