import type { StoredResponse } from '../../../../conversations/response-store.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../../platform/json/parse-json.ts';
import type { BackgroundRuns, BackgroundStore } from './background-runs.ts';
import { PartialOutput } from '../../../../dialects/openai-responses/partial-output.ts';
import { isRunning, typeOfEvent } from './response-events.ts';

/** Events are read in pages of this size, and this many pages at most. Other limits bound a response much earlier. */
const pageEvents = 500;
const pagesMax = 2000;

/**
 * Cancels a background response, in whichever process it is generated. Another process finds the response ended at its
 * next renewal and stops. A cancelled response stays as it is.
 * @returns the response as it is now
 * @throws GatewayError `object_not_found` (404), or `invalid_value` (400) if the response is not a background response
 * or
 *   has ended otherwise
 */
export async function cancelResponse(
  runs: Pick<BackgroundRuns, 'find' | 'conversations'>,
  userName: string,
  id: string,
): Promise<JsonObject> {
  const run = runs.find(userName, id);
  const response = run === undefined ? await cancelElsewhere(runs.conversations, userName, id) : await run.cancel();
  // If another process or a deletion has ended the run meanwhile, the stored state counts.
  if (run?.isLost === true) return cancelElsewhere(runs.conversations, userName, id);
  if (response.status !== 'cancelled') throw cannotCancel(response.status);
  return response;
}

async function cancelElsewhere(conversations: BackgroundStore, userName: string, id: string): Promise<JsonObject> {
  const stored = await conversations.findResponse(userName, id);
  if (stored === undefined) throw responseNotFound(id);
  if (stored.response.background !== true) throw cannotCancel(undefined);
  if (stored.status === 'cancelled') return stored.response;
  if (!isRunning(stored.status)) throw cannotCancel(stored.status);
  const output = await readOutput(conversations, userName, id);
  const response: JsonObject = { ...stored.response, status: 'cancelled', output: [...output] };
  const { leaseUntilMs: _lease, ...record } = stored;
  const cancelled: StoredResponse = { ...record, status: 'cancelled', response };
  if (await conversations.saveResponse(cancelled)) return response;
  // It has ended, or was deleted, meanwhile.
  const now = await conversations.findResponse(userName, id);
  if (now === undefined) throw responseNotFound(id);
  if (now.status !== 'cancelled') throw cannotCancel(now.status);
  return now.response;
}

async function readOutput(conversations: BackgroundStore, userName: string, id: string): Promise<readonly JsonObject[]> {
  const output = new PartialOutput();
  let after = -1;
  for (let page = 0; page < pagesMax; page += 1) {
    const events = await conversations.readEvents(userName, id, after, pageEvents);
    for (const event of events) output.read(typeOfEvent(event), parseJsonObject(event) ?? {});
    after += events.length;
    if (events.length < pageEvents) break;
  }
  return output.items();
}

/** The same error for another user's response and for a missing one. */
function responseNotFound(id: string): GatewayError {
  return new GatewayError('object_not_found', `Response with id '${id.slice(0, 100)}' not found.`);
}

function cannotCancel(status: unknown): GatewayError {
  const message =
    status === undefined
      ? 'Cannot cancel a synchronous response: only responses with background=true can be cancelled.'
      : `Cannot cancel a ${typeof status === 'string' ? status : 'finished'} response.`;
  return new GatewayError('invalid_value', message);
}
