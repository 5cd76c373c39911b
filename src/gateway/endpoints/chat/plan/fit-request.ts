import type { PreparedCall } from '../incoming-call.ts';
import type { ContextFit, ContextFitting, ContextLimits } from '../../../../dialects/chat-dialect.ts';
import { countTextCharacters, estimateTokens } from '../../../../inference/count-text-characters.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { readAhead } from '../../../../platform/json/lazy-object.ts';
import { writeJson } from '../../../../platform/json/write-json.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import type { TurnRequest } from '../responses/response-turn.ts';

/** A request that fits the window of its target, with a note for the client if it was shortened. */
export type FittedRequest = TurnRequest & { readonly truncated?: string };

/** Estimates of a vendor's count are off by this factor at times. */
const overflowMargin = 0.9;

/** The share of a conversation that is kept if its vendor only says that it is too long. */
const overflowShare = 0.6;

/**
 * Fits a request to the window of its target, if its dialect has a field with which clients ask for that. An unknown
 * window cuts nothing, and a request far below its window costs one comparison. A long request is measured in steps
 * that yield.
 * @param overflow the vendor's refusal of an earlier form as too long: less of it is sent now
 * @throws GatewayError `context_length_exceeded` if the vendor would certainly refuse it
 */
export function fitRequest(
  prepared: Pick<PreparedCall, 'call' | 'facts' | 'round'>,
  target: Target,
  request: TurnRequest,
  overflow?: GatewayError,
): FittedRequest | Promise<FittedRequest> {
  const { call, facts, round } = prepared;
  // A round of a loop continues a conversation that was fitted before the loop began.
  const { contextFitting } = call.dialect;
  if (contextFitting === undefined || call.operation !== 'generate' || round !== undefined) return request;
  const { body } = request.request;
  // The part of the conversation that its vendor stores cannot be cut here.
  if (overflow !== undefined && !request.translate && contextFitting.namesHistory(body)) throw overflow;
  const ownWindow = target.upstream.traitsOf(target.upstreamModel).contextTokensMax;
  const contextTokensMax = overflow === undefined ? ownWindow : windowAfter(overflow, body);
  // A token has at least one byte.
  if (contextTokensMax === undefined || request.bytes.length <= contextTokensMax / 2) return request;
  const limits = {
    contextTokensMax,
    ...(facts.outputTokensMax === undefined ? {} : { outputTokensMax: facts.outputTokensMax }),
    refusesEstimate: overflow === undefined && target.upstream.setsContext === true,
  };
  return fitLong(contextFitting, request, limits, { overflow, dropsByItself: dropsByItself(target, request) });
}

async function fitLong(
  fitting: ContextFitting,
  request: TurnRequest,
  limits: ContextLimits,
  { overflow, dropsByItself: leavesAlone }: { readonly overflow: GatewayError | undefined; readonly dropsByItself: boolean },
): Promise<FittedRequest> {
  const { body } = request.request;
  await readAhead(body);
  if (overflow === undefined && leavesAlone) {
    // Only what the body itself has too much counts, if that is certain.
    const letsDrop = fitting.letsDrop(body);
    const refusesEstimate = limits.refusesEstimate === true && !letsDrop;
    const own = await fitting.fit(fitting.keepAll(body), { ...limits, refusesEstimate });
    if (own.kind !== 'too-long') return request;
    if (!letsDrop) throw tooLong(own, fitting);
  }
  const fitted = await fitWith(fitting, body, limits);
  if (fitted.truncated === undefined) {
    if (overflow !== undefined) throw overflow;
    return request;
  }
  const bytes = await writeJson(fitted.body);
  return { ...request, request: { ...request.request, body: fitted.body }, bytes, truncated: fitted.truncated };
}

/** Whether the vendor drops items itself. It knows what it stores of the conversation, and counts exactly. */
function dropsByItself({ upstream }: Target, { translate }: TurnRequest): boolean {
  return !translate && upstream.vendor.keepsResponses === true;
}

/**
 * A body that fits the limits, with a note that says what was dropped from it.
 * Rejects with GatewayError `context_length_exceeded`.
 */
export async function fitBody(
  { dialect }: Pick<PreparedCall['call'], 'dialect'>,
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
  return {
    body: shorter,
    truncated: `${dropped} ${dropped === 1 ? 'item was' : 'items were'} removed from the middle by truncation${ids}`,
  };
}

/** The most ids that a header names; a long conversation may lose hundreds. */
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

/** Whether less may be sent of a request that its vendor found too long, if its body allows that. */
export function mayShorten({ dialect, operation }: PreparedCall['call'], { code }: GatewayError): boolean {
  return code === 'context_length_exceeded' && dialect.contextFitting !== undefined && operation === 'generate';
}

/** The window that the estimate must stay below, so that the vendor's count stays below its own. */
function windowAfter({ details }: GatewayError, body: JsonObject): number {
  const estimated = estimateTokens(countTextCharacters(body));
  const { tokens, tokensMax } = details ?? {};
  const isCounted = typeof tokens === 'number' && typeof tokensMax === 'number' && tokens > tokensMax && tokensMax > 0;
  return Math.floor(estimated * (isCounted ? (tokensMax / tokens) * overflowMargin : overflowShare));
}
