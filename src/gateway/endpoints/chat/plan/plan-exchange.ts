import { forwardReplyHeaders } from '../../../attempts/exchange/pass-headers.ts';
import type { ChatDialect } from '../../../../dialects/chat-dialect.ts';
import type { DialectId } from '../../../../dialects/dialect-id.ts';
import type { WireRequest } from '../../../../dialects/wire-request.ts';
import { chatDialects } from '../../../../dialects/registry.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import type { InferenceRequest } from '../../../../inference/inference-request.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { estimateTokens } from '../../../../inference/count-text-characters.ts';
import type { StreamFraming } from '../../../../platform/frames.ts';
import type { UpstreamRequest } from '../../../../platform/http/upstream-client.ts';
import { writeJson } from '../../../../platform/json/write-json.ts';
import type { PassingForm, ReplyForm } from '../forms/reply-form.ts';
import { createPassthroughRelay } from './passthrough-relay.ts';
import type { ReplyRelay } from '../../../attempts/exchange/reply-relay.ts';
import { refusePrivateAddresses } from '../../../attempts/exchange/private-addresses.ts';
import { refuseStoredIds } from './stored-ids.ts';
import { createCountRelay } from '../translate/count-relay.ts';
import { addressRequest, decodeForTarget, prepareTranslation, type TranslationOptions } from '../translate/prepare-translation.ts';
import { createTranslateRelay } from '../translate/translate-relay.ts';
import type { Translation } from '../translate/translation.ts';
import type { ChatServices } from '../chat-services.ts';
import { prepareRequest } from '../../../attempts/exchange/prepare-request.ts';
import type { StopSequences } from '../../../attempts/routing/model-options.ts';
import type { Target } from '../../../attempts/routing/target.ts';

/** What is to be sent upstream, and how the reply comes back. */
export type ExchangePlan<Piece = Buffer> = {
  readonly kind: 'exchange';
  readonly upstreamRequest: UpstreamRequest;
  readonly relay: ReplyRelay<Piece>;
  /** The dialect in which the upstream answers. */
  readonly upstreamDialect: ChatDialect;
  /** Absent in passthrough. */
  readonly translation?: Translation;
};

/** A count that no upstream can make: it is estimated and answered here. */
export type EstimatedCount = { readonly kind: 'estimate'; readonly inputTokens: number };

export type PlanOptions<Piece> = {
  /** What the sink of the reply takes. */
  readonly form: ReplyForm<Piece>;
  readonly gateway: Pick<ChatServices, 'newId' | 'proofVault' | 'fetchMedia' | 'summaries' | 'documents' | 'clock'>;
  readonly requestId: string;
  readonly dialect: ChatDialect;
  readonly request: WireRequest;
  /** The request in the neutral form, where the gateway asks and no client. */
  readonly neutral?: InferenceRequest | undefined;
  readonly bytes: Buffer;
  readonly facts: CallFacts;
  readonly target: Target;
  readonly framing: StreamFraming | undefined;
  readonly caller: { readonly userName: string; readonly strictTranslation: boolean };
  readonly acceptedAtMs: number;
  /** Whether the call is translated even where the upstream speaks the client's dialect. */
  readonly translate?: boolean;
  /** The request as the client sent it, where `request` was made from it. */
  readonly asked?: WireRequest;
  /** The id of the reply where the gateway gives it one. */
  readonly replyId?: string;
  /** Whether the contract is kept to the letter. */
  readonly isDocumented?: boolean;
  /** Whether the request may name media in private networks. Absent: no. */
  readonly allowsPrivateMedia?: boolean | undefined;
  /** Who watches for stop sequences. Absent: the upstream, where it can. */
  readonly stopSequences?: (() => StopSequences | undefined) | undefined;
  /** Whether the client has gone. */
  readonly hasLeft: () => boolean;
};

/**
 * Plans a call's exchange with its target: passthrough where the upstream speaks the client's dialect, translation where it does not. Only a translated call may have to
 * wait, for media and proofs; a call that passes through is planned at once.
 * @throws GatewayError for a request that cannot be said in the upstream's dialect
 */
export function planExchange<Piece>(
  options: PlanOptions<Piece>,
): ExchangePlan<Piece> | EstimatedCount | Promise<ExchangePlan<Piece> | EstimatedCount> {
  const { dialect, target, request } = options;
  const { passing } = options.form;
  if (options.allowsPrivateMedia !== true) refusePrivateAddresses(dialect.id, request.body);
  if (passing !== undefined && options.translate !== true && target.upstream.dialects.includes(dialect.id) && mayPass(options)) {
    if (!target.upstream.passesStoredIds) refuseStoredIds(dialect.id, request.body);
    const passed = withoutForeignProofs(options);
    return passed instanceof Promise
      ? passed.then((own) => planPassthrough(options, passing, own))
      : planPassthrough(options, passing, passed);
  }
  return request.operation === 'count-tokens' ? planCount(options) : planTranslation(options);
}

/** A server may speak the dialect without compacting conversations. */
function mayPass({ facts, target }: Pick<PlanOptions<never>, 'facts' | 'target'>): boolean {
  if (facts.compacts !== true || target.upstream.vendor.compacts === true) return true;
  const { continues } = facts;
  if (continues === undefined) return false;
  throw new GatewayError(
    'untranslatable_field',
    `${continues.param}: the upstream of this model keeps the conversation and cannot compact it; send the whole conversation in input.`,
    { param: continues.param },
  );
}

/** The body as it goes on, and what it says. */
type PassedRequest = Pick<PlanOptions<never>, 'request' | 'bytes'>;

function planPassthrough<Piece>(
  options: PlanOptions<Piece>,
  form: PassingForm<Piece>,
  { request, bytes }: PassedRequest,
): ExchangePlan<Piece> | EstimatedCount {
  const { dialect, target, framing, facts, requestId, isDocumented = false } = options;
  const upstreamRequest = prepareRequest({ dialect, request, bytes, facts, target, framing });
  if (upstreamRequest === undefined) {
    // An upstream may speak the dialect without its counter, and never its counter alone.
    if (request.operation === 'count-tokens') return estimateCount(options);
    throw new Error(`${target.upstream.vendor.id} speaks ${dialect.id} and has no route for it`);
  }
  const streamRequest = framing === undefined ? {} : request.body;
  const relay = createPassthroughRelay({ dialect, form, streamRequest, requestId, target, framing, isDocumented });
  return { kind: 'exchange', upstreamRequest, relay, upstreamDialect: dialect };
}

/** A conversation that another vendor has taken part in holds proofs which this one refuses. They travel wrapped, so that they can be told. */
function withoutForeignProofs({
  dialect,
  request,
  bytes,
}: Pick<PlanOptions<never>, 'dialect' | 'request' | 'bytes'>): PassedRequest | Promise<PassedRequest> {
  const body = dialect.codec.removeForeignProofs(request.body);
  if (body === request.body) return { request, bytes };
  const pass = (written: Buffer): PassedRequest => ({ request: { ...request, body }, bytes: written });
  const written = writeJson(body);
  return written instanceof Promise ? written.then(pass) : pass(written);
}

/** The dialect to translate into: the one that the upstream speaks best. */
export function dialectOf({ upstream }: Pick<Target, 'upstream'>): ChatDialect {
  const preferred: DialectId = upstream.dialects[0] ?? 'openai-chat';
  return chatDialects[preferred];
}

function translationOptions<Piece>(options: PlanOptions<Piece>): TranslationOptions {
  const { gateway, dialect, target } = options;
  return {
    ...options,
    client: dialect,
    upstream: dialectOf(target),
    newId: gateway.newId,
    nowMs: () => gateway.clock.nowMs(),
    vault: gateway.proofVault,
    fetchMedia: gateway.fetchMedia,
    summaries: gateway.summaries,
    documents: gateway.documents,
    stopSequences: options.stopSequences?.(),
  };
}

async function planTranslation<Piece>(options: PlanOptions<Piece>): Promise<ExchangePlan<Piece>> {
  const { translation, upstreamRequest } = await prepareTranslation(translationOptions(options));
  const relay = withListedHeaders(createTranslateRelay(translation, options.form), options.target);
  return { kind: 'exchange', upstreamRequest, relay, upstreamDialect: translation.upstream, translation };
}

/** The same relay, whose replies also have the upstream's headers that the operator has listed. What the translation writes itself goes before. */
function withListedHeaders<Piece>(relay: ReplyRelay<Piece>, { upstream }: Target): ReplyRelay<Piece> {
  if (upstream.forwardsReplyHeader === undefined) return relay;
  return { ...relay, replyHeaders: (received) => ({ ...forwardReplyHeaders(upstream, received), ...relay.replyHeaders(received) }) };
}

async function planCount<Piece>(options: PlanOptions<Piece>): Promise<ExchangePlan<Piece> | EstimatedCount> {
  const translating = translationOptions(options);
  const { client, upstream } = translating;
  if (upstream.codec.encodeCountRequest === undefined) return estimateCount(options);
  const { neutral, fit } = await decodeForTarget(translating);
  const upstreamRequest = addressRequest(translating, await writeJson(upstream.codec.encodeCountRequest(neutral, fit)));
  const estimated = estimateCount(options);
  if (upstreamRequest === undefined) return estimated;
  const counting = createCountRelay({ client, upstream, requestId: options.requestId, estimate: estimated.inputTokens });
  const relay = withListedHeaders(counting, options.target);
  return { kind: 'exchange', upstreamRequest, relay, upstreamDialect: upstream };
}

function estimateCount({ facts }: Pick<PlanOptions<never>, 'facts'>): EstimatedCount {
  return { kind: 'estimate', inputTokens: estimateTokens(facts.inputCharacters) };
}
