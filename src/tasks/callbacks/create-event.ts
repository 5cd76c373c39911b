import { createHash } from 'node:crypto';

import type { NewDelivery } from './callback-store.ts';
import type { CallbackVault } from './callback-vault.ts';

/**
 * Deliveries of this type are not events. They watch a response until its end, in case its process cannot report it.
 */
export const watchedEventType = 'watch';

/** A subject that has ended, without its content. */
type EndedSubject = {
  readonly userName: string;
  /** Id of the video or response. */
  readonly subject: string;
  /** `video.completed`, `response.failed` and so on. */
  readonly eventType: string;
  readonly url: string;
  readonly nowMs: number;
};

/** The body of an event, in the format of the vendor of the Responses interface. */
function createEvent(type: string, subject: string, { id, nowMs }: { readonly id: string; readonly nowMs: number }): string {
  return JSON.stringify({ id, object: 'event', created_at: Math.floor(nowMs / 1000), type, data: { id: subject } });
}

/**
 * The delivery of an end event. Its id is derived from the subject, so that repeated reports of the same end create the
 * same delivery, and the store keeps one.
 */
export function createEndDelivery({ sealUrl }: Pick<CallbackVault, 'sealUrl'>, happened: EndedSubject): NewDelivery {
  const { userName, subject, eventType, url, nowMs } = happened;
  const name = hashName(userName, subject);
  const id = `msg_${name}`;
  const payload = createEvent(eventType, subject, { id: `evt_${name}`, nowMs });
  return { id, userName, subject, eventType, sealedUrl: sealUrl(url, id), payload, createdAtMs: nowMs };
}

/**
 * Hashes a user and a subject into a name that reveals neither. The length distinguishes "a" + "bc" from "ab" + "c".
 */
export function hashName(userName: string, subject: string): string {
  return createHash('sha256').update(`${userName.length}:${userName}${subject}`).digest('base64url').slice(0, 26);
}
