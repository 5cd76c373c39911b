import type { ApiKey } from '../../../accounts/api-key.ts';
import type { DisconnectPolicy } from '../../../billing/ledger/call-entry.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ImageRequest } from '../../../inference/image.ts';
import { mayCall } from '../../admission/check-caller.ts';
import { type CallCredit, takeCredit } from '../../admission/credits/call-credit.ts';
import { reserveCall } from '../../admission/limits/reserve-call.ts';
import { boundDearest } from '../../attempts/books/bound-call.ts';
import type { AttemptedCall } from '../../attempts/call.ts';
import { CallAttempts } from '../../attempts/call-attempts.ts';
import { alwaysHealthy } from '../../attempts/routing/always-healthy.ts';
import { notAChat } from '../../attempts/routing/not-a-chat.ts';
import { rankTargets, unknownModel } from '../../attempts/routing/rank-targets.ts';
import type { Target } from '../../attempts/routing/target.ts';
import type { GatewaySettings } from '../../attempts/services.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import type { AttemptReport } from '../../telemetry/call-report.ts';
import { asksForStrict } from '../shared/asks-for-strict.ts';
import { boundImages } from './bound-images.ts';
import { createImageJob } from './image-job.ts';
import type { ImageServices } from './image-services.ts';
import { imagesVoice } from './images-voice.ts';

/** A request for pictures. */
type ImageCall = {
  readonly callId: string;
  readonly caller: ApiKey;
  readonly settings: GatewaySettings;
  readonly asked: ImageRequest;
  /** Headers of the client, which pass where the upstream takes them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly acceptedAtMs: number;
  readonly startedMs: number;
  readonly response: ClientReply;
  readonly disconnect: DisconnectPolicy | undefined;
  readonly admission: AttemptedCall['admission'];
  readonly report: AttemptReport;
};

/** What routing, limits and the books need to know of a request for pictures. */
export function imageFacts({ requestedModel, stream, prompt }: ImageRequest): CallFacts {
  return { requestedModel, stream, inputCharacters: prompt.length, needs: [] };
}

/** What an upstream does that makes pictures, in words. */
export const makesPictures = 'makes pictures';

export const isImageTarget = ({ upstream }: Target): boolean => upstream.vendor.imagesOf !== undefined;

/**
 * Routes, limits and makes a call for pictures, held for like any other. Returns when its first attempt runs; the attempts go on by themselves, write the reply and
 * settle the call.
 * @throws GatewayError before anything was spent
 */
export async function makeImages(gateway: ImageServices, call: ImageCall): Promise<void> {
  const { caller, settings, asked, acceptedAtMs } = call;
  const facts = imageFacts(asked);
  call.report.facts = facts;
  const targets = findTargets(gateway, call, facts);
  const { limiter, clock } = gateway;
  const { perKey, routing } = settings;
  const voice = imagesVoice;
  const taken = await reserveCall({ limiter, clock, voice, caller, perKey, facts, model: targets[0]?.model });
  let credit: CallCredit | undefined;
  try {
    const payer = { userName: caller.userName, keyId: caller.id };
    const purchase = { priceBook: routing.priceBook, requestedModel: facts.requestedModel, acceptedAtMs, ...payer };
    credit = await takeCredit(gateway, caller, acceptedAtMs, () => boundDearest(purchase, targets, (target) => boundImages(asked, target)));
    const job = createImageJob({
      ...call,
      strict: asksForStrict(caller, call.headers),
      purchase,
      requestBytesMax: settings.limits.requestBytesMax,
    });
    const framing = asked.stream ? 'sse' : undefined;
    // The job lets go of the pictures of a request when they have been sent; nothing else may keep them.
    const { asked: _asked, ...known } = call;
    await new CallAttempts(gateway, { ...known, label: 'openai-images', voice, facts, framing, targets, taken, credit }, job).start();
  } catch (error) {
    taken?.reservation.release();
    credit?.end();
    throw error;
  }
}

/** The targets that make pictures, best first. @throws GatewayError where there is none */
function findTargets(gateway: ImageServices, { caller, settings, headers }: ImageCall, facts: CallFacts): readonly Target[] {
  const { requestedModel } = facts;
  const { routing, retries } = settings;
  if (!mayCall(caller, requestedModel)) throw unknownModel(requestedModel, routing, (model) => mayCall(caller, model));
  const ranked = rankTargets({
    table: routing,
    dialect: notAChat,
    facts,
    request: { operation: 'generate', body: {}, headers },
    caller,
    kind: 'image',
    health: retries.avoidFailing ? gateway.health : alwaysHealthy,
    nowMs: gateway.clock.monotonicMs(),
    random: gateway.random,
  });
  const targets = ranked.filter(isImageTarget);
  if (targets.length > 0) return targets;
  throw new GatewayError('no_suitable_target', `no upstream of ${requestedModel.slice(0, 256)} ${makesPictures}`, { param: 'model' });
}
