import type { KnownCall } from '../known-call.ts';
import type { ContextFit, ContextFitting, ContextLimits } from '../../../../dialects/chat-dialect.ts';
import { countTextCharacters, estimateTokens } from '../../../../inference/count-text-characters.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { writeJson } from '../../../../platform/json/write-json.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import type { TurnRequest } from '../responses/response-turn.ts';

/** A request that fits the window of its target, with what was done to it in words for the client. */
export type FittedRequest = TurnRequest & { readonly truncated?: string };

/** Estimates of a vendor's count are off by this much at times. */
const overflowMargin = 0.9;

/** What is kept of a conversation whose vendor only says that it is too long. */
const overflowShare = 0.6;

/**
 * Fits a request to the window of the target that is tried, where its dialect lets clients ask for that. A window that is not known cuts nothing, and a
 * request that is far from any costs a comparison; others have their turn while a long one is looked at.
 * @param overflow how the vendor refused an earlier form of it as too long: then less of it is sent
 * @throws GatewayError `context_length_exceeded` where it is certain that the vendor would refuse it
 */
export function fitRequest(
  known: Pick<KnownCall, 'call' | 'facts' | 'round'>,
  target: Target,
  made: TurnRequest,
  overflow?: GatewayError,
): FittedRequest | Promise<FittedRequest> {
  const { call, facts, round } = known;
  // A round of a loop continues what was fitted before it began.
  const { contextFitting } = call.dialect;
  if (contextFitting === undefined || call.operation !== 'generate' || round !== undefined) return made;
  const { body } = made.request;
  // What its vendor keeps of the conversation cannot be cut here.
  if (overflow !== undefined && !made.translate && contextFitting.namesHistory(body)) throw overflow;
  const ownWindow = target.upstream.traitsOf(target.upstreamModel).contextTokensMax;
  const contextTokensMax = overflow === undefined ? ownWindow : windowAfter(overflow, body);
  // No token is less than a byte.
  if (contextTokensMax === undefined || made.bytes.length <= contextTokensMax / 2) return made;
  const limits = {
    contextTokensMax,
    ...(facts.outputTokensMax === undefined ? {} : { outputTokensMax: facts.outputTokensMax }),
    refusesEstimate: overflow === undefined && target.upstream.setsContext === true,
  };
  return fitLong(contextFitting, made, limits, { overflow, dropsByItself: dropsByItself(target, made) });
}

async function fitLong(
  fitting: ContextFitting,
  made: TurnRequest,
  limits: ContextLimits,
  { overflow, dropsByItself: leavesAlone }: { readonly overflow: GatewayError | undefined; readonly dropsByItself: boolean },
): Promise<FittedRequest> {
  const { body } = made.request;
  if (overflow === undefined && leavesAlone) {
    // Only the body's own excess counts, where that is certain.
    const letsDrop = fitting.letsDrop(body);
    const refusesEstimate = limits.refusesEstimate === true && !letsDrop;
    const own = await fitting.fit(fitting.keepAll(body), { ...limits, refusesEstimate });
    if (own.kind !== 'too-long') return made;
    if (!letsDrop) throw tooLong(own, fitting);
  }
  const fitted = await fitWith(fitting, body, limits);
  if (fitted.truncated === undefined) {
    if (overflow !== undefined) throw overflow;
    return made;
  }
  const bytes = await writeJson(fitted.body);
  return { ...made, request: { ...made.request, body: fitted.body }, bytes, truncated: fitted.truncated };
}

/** Its vendor drops items itself, knows what it keeps of the conversation, and counts exactly. */
function dropsByItself({ upstream }: Target, { translate }: TurnRequest): boolean {
  return !translate && upstream.vendor.keepsResponses === true;
}

/**
 * A body that fits the limits, and what was dropped from it in words.
 * Rejects with GatewayError `context_length_exceeded`
 */
export async function fitBody(
  { dialect }: Pick<KnownCall['call'], 'dialect'>,
  body: JsonObject,
  limits: ContextLimits,
): Promise<{ readonly body: JsonObject; readonly truncated?: string }> {
  return dialect.contextFitting === undefined ? { body } : fitWith(dialect.contextFitting, body, limits);
}

async function fitWith(
  fitting: ContextFitting,
  body: JsonObject,
  limits: ContextLimits,
): Promise<{ readonly body: JsonObject; readonly truncated?: string }> {
  const fit = await fitting.fit(body, limits);
  if (fit.kind === 'fits') return { body };
  if (fit.kind === 'too-long') throw tooLong(fit, fitting);
  const { body: shorter, dropped, droppedIds } = fit;
  const ids = droppedIds.length === 0 ? '' : `: ${droppedIds.slice(0, idsMax).join(' ')}${droppedIds.length > idsMax ? ' ...' : ''}`;
  return { body: shorter, truncated: `${dropped} ${dropped === 1 ? 'item was' : 'items were'} left out of the middle by truncation${ids}` };
}

/** Ids that are named in a header; a long conversation may lose hundreds. */
const idsMax = 8;

function tooLong(
  { tokensMin: tokens, tokensMax, isEstimate }: Extract<ContextFit, { kind: 'too-long' }>,
  { param, advice }: ContextFitting,
): GatewayError {
  return new GatewayError(
    'context_length_exceeded',
    `The ${param} has ${isEstimate === true ? 'about' : 'at least'} ${tokens} tokens and the context window of this model is ${tokensMax}. ${advice}`,
    { param, details: { tokens, tokensMax } },
  );
}

/** Whether less of a request that its vendor found too long may be sent, if its body asks for that. */
export function mayShorten({ dialect, operation }: KnownCall['call'], { code }: GatewayError): boolean {
  return code === 'context_length_exceeded' && dialect.contextFitting !== undefined && operation === 'generate';
}

/** The window as the estimate has to take it, so that the vendor's count comes out within its own. */
function windowAfter({ details }: GatewayError, body: JsonObject): number {
  const estimated = estimateTokens(countTextCharacters(body));
  const { tokens, tokensMax } = details ?? {};
  const isCounted = typeof tokens === 'number' && typeof tokensMax === 'number' && tokens > tokensMax && tokensMax > 0;
  return Math.floor(estimated * (isCounted ? (tokensMax / tokens) * overflowMargin : overflowShare));
}
