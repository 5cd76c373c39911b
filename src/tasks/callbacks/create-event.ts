import { createHash } from 'node:crypto';

import type { NewDelivery } from './callback-store.ts';
import type { CallbackVault } from './callback-vault.ts';

/** Deliveries of this type are no events: they are kept until something has ended that is not told by the process that ends it. */
export const watchedEventType = 'watch';

/** What happened to something, as it is told: names, and nothing of its content. */
type Happened = {
  readonly userName: string;
  /** Id of the video or response. */
  readonly subject: string;
  /** `video.completed`, `response.failed` and so on. */
  readonly eventType: string;
  readonly url: string;
  readonly nowMs: number;
};

/** The body of an event, in the form that the vendor of the Responses interface uses. */
export function createEvent(type: string, subject: string, { id, nowMs }: { readonly id: string; readonly nowMs: number }): string {
  return JSON.stringify({ id, object: 'event', created_at: Math.floor(nowMs / 1000), type, data: { id: subject } });
}

/**
 * The delivery of the event that something has ended. Its id comes from what it is about: whoever else finds the same end makes the same delivery, and the store keeps one.
 */
export function createEndDelivery({ sealUrl }: Pick<CallbackVault, 'sealUrl'>, happened: Happened): NewDelivery {
  const { userName, subject, eventType, url, nowMs } = happened;
  const name = hashName(userName, subject);
  const id = `msg_${name}`;
  const payload = createEvent(eventType, subject, { id: `evt_${name}`, nowMs });
  return { id, userName, subject, eventType, sealedUrl: sealUrl(url, id), payload, createdAtMs: nowMs };
}

/** A name for something of a user that says nothing of either. The length keeps "a" + "bc" and "ab" + "c" apart. */
export function hashName(userName: string, subject: string): string {
  return createHash('sha256').update(`${userName.length}:${userName}${subject}`).digest('base64url').slice(0, 26);
}
