import type { CallBound } from '../../../billing/metering/dispute-usage.ts';
import { countInput, useMeters } from '../../../inference/meters.ts';
import { type InputMeasure, measureInput } from '../../../inference/measure-input.ts';
import type { UpstreamRequest } from '../../../platform/http/upstream-client.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';
import type { ResponseTurn } from './responses/response-turn.ts';
import type { UsageBound } from '../../attempts/books/settle.ts';
import type { HeldPlan } from '../../admission/credits/call-credit.ts';
import { boundOfAttempt, type ChatAttempt, type HeldChat } from './chat-credit.ts';

/** A chat that is about to be sent, with its hold if it has one. */
type SentChat = HeldChat & { readonly turn?: ResponseTurn | undefined };
type SentAttempt = ChatAttempt & { readonly plan: { readonly upstreamRequest: Pick<UpstreamRequest, 'body'> } };

/**
 * A request up to this size is kept until its call is over and can be measured then. A larger one is bounded by its
 * bytes.
 */
const measuredBytesMax = 16 * 1024;
/** A report of more input than this is checked, whatever the size of the request. */
const usualInputTokens = 65_536;
const usualOutputTokens = 16_384;
/** The tokens that a vendor may add to a request. They matter for small requests. */
const usualOwnTokens = 256;
/** A report of more uses of a tool than this is checked. */
const usualToolUses = 10;

/**
 * Members that name things which a vendor stores and its model reads, and whose size no request shows: a stored
 * response or conversation, a template, a cache, a container with skills, tools of another server.
 */
const namesStored =
  /"(?:previous_response_id|conversation|prompt|cached_?[cC]ontent|container|mcp_servers|server_url|file_ids?|vector_store_ids)"\s*:/;

/** Bounds the usage of one attempt at a chat. Only an implausible report causes its request to be measured. */
export function boundUsage(call: SentChat, attempt: SentAttempt): UsageBound {
  const { target, pricingParameters } = attempt;
  const { translation } = attempt.plan;
  const { body = noBody } = attempt.plan.upstreamRequest;
  const { credit } = call;
  // The closures below must not keep the body itself in memory.
  const plan = translation === undefined ? {} : { translation };
  const sentBytes = body.length;
  const retained = sentBytes <= measuredBytesMax ? body : undefined;
  const { outputTokensMax = usualOutputTokens } = call.facts;
  const inputMost = Math.min(sentBytes + usualOwnTokens, usualInputTokens);
  return {
    isSuspicious: (usage, amountNanoUsd) =>
      (usage.outputTokens ?? 0) > outputTokensMax ||
      countInput(usage) > inputMost ||
      useMeters.reduce((sum, meter) => sum + (usage[meter] ?? 0), 0) > usualToolUses ||
      (credit !== undefined && amountNanoUsd > credit.leftNanoUsd),
    find: () => findBound(call, { target, plan, pricingParameters }, { retained, sentBytes }),
  };
}

const noBody = Buffer.alloc(0);

type Sent = { readonly retained: Buffer | undefined; readonly sentBytes: number };

function findBound(call: SentChat, attempt: ChatAttempt, sent: Sent): CallBound {
  const { credit, facts } = call;
  const measured = credit?.plan ?? measureSent(sent);
  const readsMore = facts.continues !== undefined || measured.input.files > 0 || (credit?.plan === undefined && namesMore(call, sent));
  return { ...boundOfAttempt(call, attempt, measured, readsMore), provesCounts: facts.builtInTools === undefined };
}

function measureSent({ retained, sentBytes }: Sent): HeldPlan {
  const body = retained === undefined ? undefined : parseJsonObject(retained);
  return body === undefined ? { input: boundByBytes(sentBytes) } : { input: measureInput(body), serviceTier: textOf(body.service_tier) };
}

/** Whether the model may read more than the request contains. A request that was not retained is assumed to. */
function namesMore({ turn }: SentChat, { retained }: Sent): boolean {
  return turn !== undefined || retained === undefined || namesStored.test(retained.toString());
}

/** A request that is not measured can be text as a whole. */
function boundByBytes(bytes: number): InputMeasure {
  return { textBytes: bytes, images: 0, files: 0, fileBytes: 0, offersTools: true };
}
