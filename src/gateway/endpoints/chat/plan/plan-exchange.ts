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
import type { StopSequences } from '../../../attempts/routing/routing-table.ts';
import type { Target } from '../../../attempts/routing/target.ts';

/** The request to the upstream, and how the reply comes back. */
export type ExchangePlan<Piece = Buffer> = {
  readonly kind: 'exchange';
  readonly upstreamRequest: UpstreamRequest;
  readonly relay: ReplyRelay<Piece>;
  /** The dialect of the upstream's reply. */
  readonly upstreamDialect: ChatDialect;
  /** Absent in passthrough. */
  readonly translation?: Translation;
};

/** A count that no upstream can make. The gateway estimates it. */
export type EstimatedCount = { readonly kind: 'estimate'; readonly inputTokens: number };

export type PlanOptions<Piece> = {
  /** The form that the sink of the reply accepts. */
  readonly form: ReplyForm<Piece>;
  readonly gateway: Pick<ChatServices, 'newId' | 'proofVault' | 'fetchMedia' | 'summaries' | 'documents' | 'clock'>;
  readonly requestId: string;
  readonly dialect: ChatDialect;
  readonly request: WireRequest;
  /** The request in the neutral form if the gateway makes the call itself. */
  readonly neutral?: InferenceRequest | undefined;
  readonly bytes: Buffer;
  readonly facts: CallFacts;
  readonly target: Target;
  readonly framing: StreamFraming | undefined;
  readonly caller: { readonly userName: string; readonly strictTranslation: boolean };
  readonly acceptedAtMs: number;
  /** Whether the call is translated even if the upstream speaks the client's dialect. */
  readonly translate?: boolean;
  /** The client's request if `request` was derived from it. */
  readonly asked?: WireRequest;
  /** The id of the reply if the gateway chooses it. */
  readonly replyId?: string;
  /** Whether requests and replies follow the documented contract exactly. */
  readonly isDocumented?: boolean;
  /** Whether the request may name media in private networks. Absent: no. */
  readonly allowsPrivateMedia?: boolean | undefined;
  /** Whether the gateway or the upstream stops at stop sequences. Absent: the upstream, if it can. */
  readonly stopSequences?: (() => StopSequences | undefined) | undefined;
  /** Whether the client has disconnected. */
  readonly hasLeft: () => boolean;
};

/**
 * Plans a call's exchange with its target: passthrough if the upstream speaks the client's dialect, otherwise
 * translation. Only a translated call may have to wait, for media and proofs.
 * @throws GatewayError if the request cannot be expressed in the upstream's dialect
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
    `${continues.param}: the upstream of this model stores the conversation and cannot compact it; send the whole conversation in input.`,
    { param: continues.param },
  );
}

/** The request that passes through, and its bytes. */
type PassedRequest = Pick<PlanOptions<never>, 'request' | 'bytes'>;

function planPassthrough<Piece>(
  options: PlanOptions<Piece>,
  form: PassingForm<Piece>,
  { request, bytes }: PassedRequest,
): ExchangePlan<Piece> | EstimatedCount {
  const { dialect, target, framing, facts, requestId, isDocumented = false } = options;
  const upstreamRequest = prepareRequest({ dialect, request, bytes, facts, target, framing });
  if (upstreamRequest === undefined) {
    // An upstream may speak the dialect without its counter, but never only the counter.
    if (request.operation === 'count-tokens') return estimateCount(options);
    throw new Error(`${target.upstream.vendor.id} speaks ${dialect.id} and has no route for it`);
  }
  const streamRequest = framing === undefined ? {} : request.body;
  const relay = createPassthroughRelay({ dialect, form, streamRequest, requestId, target, framing, isDocumented });
  return { kind: 'exchange', upstreamRequest, relay, upstreamDialect: dialect };
}

/** Proofs of another vendor would be refused. They are wrapped, so that they can be recognised and removed here. */
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

/** The dialect to translate into: the one that the upstream supports best. */
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

/** Adds the upstream's headers that the operator has listed. Headers of the translation take precedence. */
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
