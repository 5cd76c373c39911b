import { textOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { ChatServices } from '../chat-services.ts';
import type { RunRecord } from './background-run.ts';

type Conclude = (response: JsonObject) => Promise<void>;

/**
 * Registers the callback of a background response, and returns what is to be done when the response has ended.
 * @throws GatewayError `responses_unavailable` if the store does not accept it; nothing was started
 */
export async function arrangeCallback(
  { callbacks, logger }: Pick<ChatServices, 'callbacks' | 'logger'>,
  { userName, id }: RunRecord,
  url: string | undefined,
  conclude: Conclude | undefined,
): Promise<Conclude | undefined> {
  if (url === undefined || callbacks === undefined) return conclude;
  // It is stored before the response is. From then on the callback is sent, whichever process dies.
  await callbacks.watchResponse({ userName, id, url }).catch((cause: unknown) => {
    throw new GatewayError('responses_unavailable', 'the response cannot be stored at the moment; try again', {
      retryAfterSeconds: 1,
      cause,
    });
  });
  return async (response) => {
    await conclude?.(response);
    await callbacks.responseEnded({ userName, id, url, status: textOf(response['status']) ?? 'failed' }).catch((error: unknown) => {
      logger.warn({ responseId: id, err: error }, 'storing the callback of a response failed');
    });
  };
}
