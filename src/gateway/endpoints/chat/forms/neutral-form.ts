import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { ReplyForm } from './reply-form.ts';

/** A reply in neutral events, for the gateway's own reading: nothing is written, and so nothing passes as it came. */
export const neutralForm: ReplyForm<InferenceEvent> = {
  createWriter: () => ({
    write: (events) => events,
    open: () => [],
    // The loop counts the characters that its own client was sent.
    deliveredCharacters: () => 0,
    position: () => ({ framesSent: 0 }),
  }),
};
