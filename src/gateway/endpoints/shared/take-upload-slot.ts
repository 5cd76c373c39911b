import type { ApiKey } from '../../../accounts/api-key.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { reserveCall } from '../../admission/limits/reserve-call.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';

/**
 * Reserves the share of an upload in the limits of its caller, so that a client over its limit need not send many MiB
 * first. It is released when the form has arrived: only then are the model and the length of the text known, and the
 * call reserves its share of all limits at the same moment.
 * @throws GatewayError `rate_limited` (429)
 */
export async function takeUploadSlot(
  gateway: Pick<AdmissionServices & AttemptServices, 'limiter' | 'clock' | 'settings'>,
  caller: ApiKey,
): Promise<{ readonly release: () => void }> {
  const { limiter, clock } = gateway;
  const { perKey } = gateway.settings();
  const facts = { requestedModel: '', stream: false, inputCharacters: 0, needs: [], outputTokensMax: 0 };
  const reserved = await reserveCall({ limiter, clock, voice: chatDialects['openai-chat'].voice, caller, perKey, facts, model: undefined });
  return { release: () => reserved?.reservation.release() };
}
