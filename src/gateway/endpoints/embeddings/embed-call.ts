import type { ApiKey } from '../../../accounts/api-key.ts';
import type { DisconnectPolicy } from '../../../billing/ledger/call-entry.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
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
import { boundEmbeddings } from './bound-embeddings.ts';
import { createEmbeddingJob } from './embedding-job.ts';
import type { EmbeddingServices } from './embedding-services.ts';
import { readEmbeddings } from './read-embeddings.ts';

/** A request for embeddings, of a client or of the gateway's own search. */
export type EmbedCall = {
  readonly callId: string;
  readonly caller: ApiKey;
  readonly settings: GatewaySettings;
  readonly body: JsonObject;
  /** Headers of the client, which pass where the upstream takes them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly acceptedAtMs: number;
  readonly startedMs: number;
  /** Where the reply is written. */
  readonly response: ClientReply;
  /** What is done when its client leaves. */
  readonly disconnect: DisconnectPolicy | undefined;
  readonly admission: AttemptedCall['admission'];
  readonly report: AttemptReport;
};

/**
 * Makes one call for embeddings: routed by model, limited, and held for like any other. Returns when its first attempt runs; the attempts go on by themselves,
 * write the reply and settle the call.
 * @throws GatewayError before anything was spent
 */
export async function embed(gateway: EmbeddingServices, call: EmbedCall): Promise<void> {
  const { caller, settings, body, acceptedAtMs } = call;
  const { requestedModel, inputCharacters, encoding } = readEmbeddings(body);
  const facts: CallFacts = { requestedModel, stream: false, inputCharacters, needs: [], outputTokensMax: 0 };
  call.report.facts = facts;
  const targets = findTargets(gateway, call, facts);
  const { limiter, clock } = gateway;
  const { voice } = chatDialects['openai-chat'];
  const { perKey, routing } = settings;
  const taken = await reserveCall({ limiter, clock, voice, caller, perKey, facts, model: targets[0]?.model });
  let credit: CallCredit | undefined;
  try {
    const payer = { userName: caller.userName, keyId: caller.id };
    const purchase = { priceBook: routing.priceBook, requestedModel, acceptedAtMs, ...payer };
    credit = await takeCredit(gateway, caller, acceptedAtMs, () => {
      const bounds = boundEmbeddings(body, inputCharacters);
      return boundDearest(purchase, targets, () => bounds);
    });
    const job = createEmbeddingJob({ ...call, purchase, inputCharacters, encoding });
    const known = { ...call, label: 'openai-embeddings', voice, facts, framing: undefined, targets, taken, credit };
    await new CallAttempts(gateway, known, job).start();
  } catch (error) {
    taken?.reservation.release();
    credit?.end();
    throw error;
  }
}

/** The targets that make embeddings, best first. @throws GatewayError where there is none */
function findTargets(gateway: EmbeddingServices, { caller, settings, body, headers }: EmbedCall, facts: CallFacts): readonly Target[] {
  const { requestedModel } = facts;
  const { routing, retries } = settings;
  if (!mayCall(caller, requestedModel)) throw unknownModel(requestedModel, routing, (model) => mayCall(caller, model));
  const ranked = rankTargets({
    table: routing,
    dialect: notAChat,
    facts,
    request: { operation: 'generate', body, headers },
    caller,
    kind: 'embeddings',
    health: retries.avoidFailing ? gateway.health : alwaysHealthy,
    nowMs: gateway.clock.monotonicMs(),
    random: gateway.random,
  });
  const targets = ranked.filter(({ upstream }) => upstream.vendor.embeddingsPath !== undefined);
  if (targets.length > 0) return targets;
  throw new GatewayError('no_suitable_target', `no upstream of ${requestedModel.slice(0, 256)} makes embeddings`, { param: 'model' });
}
