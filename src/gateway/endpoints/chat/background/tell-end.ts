import { textOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { ChatServices } from '../chat-services.ts';
import type { RunRecord } from './background-run.ts';

type Conclude = (response: JsonObject) => Promise<void>;

/**
 * Sees to it that somebody is told when a background response ends, and returns what is to be done when it has. Undefined stays undefined where nobody wants to hear of it.
 * @throws GatewayError `responses_unavailable` when the store does not take it; nothing was begun
 */
export async function arrangeCallback(
  { callbacks, logger }: Pick<ChatServices, 'callbacks' | 'logger'>,
  { userName, id }: RunRecord,
  url: string | undefined,
  conclude: Conclude | undefined,
): Promise<Conclude | undefined> {
  if (url === undefined || callbacks === undefined) return conclude;
  // Stored before the response is: from then on its end is told whatever dies.
  await callbacks.watchResponse({ userName, id, url }).catch((cause: unknown) => {
    throw new GatewayError('responses_unavailable', 'the response cannot be stored at the moment; try again', {
      retryAfterSeconds: 1,
      cause,
    });
  });
  return async (response) => {
    await conclude?.(response);
    await callbacks.responseEnded({ userName, id, url, status: textOf(response['status']) ?? 'failed' }).catch((error: unknown) => {
      logger.warn({ responseId: id, err: error }, 'the end of a background response is told later: the store does not take it now');
    });
  };
}
