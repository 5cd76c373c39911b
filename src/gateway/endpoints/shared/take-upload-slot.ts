import type { ApiKey } from '../../../accounts/api-key.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { reserveCall } from '../../admission/limits/reserve-call.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';

/**
 * Takes what an upload needs of the limits of its caller, so that nobody sends many MiB to be told that it was too many. It is given back when the form has come: the model and the
 * length of the text stand in it, and the call takes its share of all limits in the same moment.
 * @throws GatewayError `rate_limited` (429)
 */
export async function takeUploadSlot(
  gateway: Pick<AdmissionServices & AttemptServices, 'limiter' | 'clock' | 'settings'>,
  caller: ApiKey,
): Promise<{ readonly release: () => void }> {
  const { limiter, clock } = gateway;
  const { perKey } = gateway.settings();
  const facts = { requestedModel: '', stream: false, inputCharacters: 0, needs: [], outputTokensMax: 0 };
  const taken = await reserveCall({ limiter, clock, voice: chatDialects['openai-chat'].voice, caller, perKey, facts, model: undefined });
  return { release: () => taken?.reservation.release() };
}
