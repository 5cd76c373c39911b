import type { ApiKey } from '../../../accounts/api-key.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { boundAtTarget } from '../../attempts/books/bound-call.ts';
import { takeCredit } from '../../admission/credits/call-credit.ts';
import type { GatewaySettings } from '../../attempts/services.ts';
import type { AudioServices } from './audio-services.ts';
import type { Target } from '../../attempts/routing/target.ts';
import type { AudioJob } from './audio-job.ts';

type AudioPurchase = {
  readonly caller: ApiKey;
  readonly settings: GatewaySettings;
  readonly job: AudioJob;
  readonly targets: readonly Target[];
  readonly acceptedAtMs: number;
};

/** Sets aside what making or reading sound may cost at most, wherever of its targets it is done. @throws GatewayError as `takeCredit` does */
export function takeAudioCredit(gateway: Pick<AudioServices, 'credits' | 'clock'>, call: AudioPurchase): ReturnType<typeof takeCredit> {
  const { caller, acceptedAtMs } = call;
  return takeCredit(gateway, caller, acceptedAtMs, () => boundAudio(call));
}

function boundAudio({ caller, settings, job, targets, acceptedAtMs }: AudioPurchase): bigint {
  const { priceBook } = settings.routing;
  const { requestedModel } = job.facts;
  const purchase = { priceBook, requestedModel, acceptedAtMs, userName: caller.userName, keyId: caller.id };
  const costs = targets.map((target) => {
    try {
      return boundAtTarget(purchase, target, job.prepare(target).bounds());
    } catch (error) {
      // A target that cannot do what is asked is not asked.
      if (error instanceof GatewayError) return 0n;
      throw error;
    }
  });
  return costs.reduce((dearest, cost) => (cost > dearest ? cost : dearest), 0n);
}
