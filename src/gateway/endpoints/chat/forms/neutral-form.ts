import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { ReplyForm } from './reply-form.ts';

/** A reply in neutral events, for the gateway itself. Nothing is written, so nothing can pass through. */
export const neutralForm: ReplyForm<InferenceEvent> = {
  createWriter: () => ({
    write: (events) => events,
    open: () => [],
    // The loop counts the characters that its own client receives.
    deliveredCharacters: () => 0,
    position: () => ({ framesSent: 0 }),
  }),
};
