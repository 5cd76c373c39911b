import { siblingId } from '../../platform/ids.ts';

/** The prefix before the call's id in chat completions, if the vendor returned no id. */
const chatPrefix = 'chatcmpl-';

/**
 * The id of the call behind an id that its client received: ids that the gateway generates for replies and video tasks
 * differ from the call's only in the prefix. Needs no query.
 * @returns the same id if it has no such form
 */
export function callIdOf(clientId: string): string {
  const id = clientId.startsWith(`${chatPrefix}req_`) ? clientId.slice(chatPrefix.length) : clientId;
  return siblingId(id, 'req') ?? id;
}
