import { siblingId } from '../../platform/ids.ts';

/** What chat completions put before the id of their call where their model's vendor gave them none. */
const chatPrefix = 'chatcmpl-';

/**
 * The id of the call behind an id that its client was given: ids that the gateway makes for replies and video tasks differ from their call's in the prefix only. Costs no look-up.
 * @returns the same id where nothing can be told from it
 */
export function callIdOf(given: string): string {
  const id = given.startsWith(`${chatPrefix}req_`) ? given.slice(chatPrefix.length) : given;
  return siblingId(id, 'req') ?? id;
}
