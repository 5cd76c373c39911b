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

/** A chat that is about to be sent, for which something may be held. */
type SentChat = HeldChat & { readonly turn?: ResponseTurn | undefined };
type SentAttempt = ChatAttempt & { readonly plan: { readonly upstreamRequest: Pick<UpstreamRequest, 'body'> } };

/** A request up to this size is kept until its call is over, to be measured if its usage is not to be believed. A larger one is bounded by its bytes. */
const keptBytesMax = 16 * 1024;
/** More input than this is looked at, whatever the size of the request: what is costly may be checked at some cost. */
const usualInputTokens = 65_536;
const usualOutputTokens = 16_384;
/** What a vendor may put before a request that is smaller than all its words. */
const usualOwnTokens = 256;
/** More uses of a tool than this in one call are looked at. */
const usualToolUses = 10;

/**
 * Names of things that a vendor keeps and its model reads, which no request shows the size of: a stored response or conversation, a template, a cache, a container with skills, tools of another
 * server.
 */
const namesKept =
  /"(?:previous_response_id|conversation|prompt|cached_?[cC]ontent|container|mcp_servers|server_url|file_ids?|vector_store_ids)"\s*:/;

/** Bounds what one attempt at a chat can have used. Nothing is reckoned here: only a report that makes one wonder has its request measured. */
export function boundUsage(call: SentChat, attempt: SentAttempt): UsageBound {
  const { target, pricingParameters } = attempt;
  const { translation } = attempt.plan;
  const { body = noBody } = attempt.plan.upstreamRequest;
  const { credit } = call;
  // The body itself is let go of.
  const plan = translation === undefined ? {} : { translation };
  const sentBytes = body.length;
  const kept = sentBytes <= keptBytesMax ? body : undefined;
  const { outputTokensMax = usualOutputTokens } = call.facts;
  const inputMost = Math.min(sentBytes + usualOwnTokens, usualInputTokens);
  return {
    isSuspicious: (usage, amountNanoUsd) =>
      (usage.outputTokens ?? 0) > outputTokensMax ||
      countInput(usage) > inputMost ||
      useMeters.reduce((sum, meter) => sum + (usage[meter] ?? 0), 0) > usualToolUses ||
      (credit !== undefined && amountNanoUsd > credit.leftNanoUsd),
    find: () => findBound(call, { target, plan, pricingParameters }, { kept, sentBytes }),
  };
}

const noBody = Buffer.alloc(0);

type Sent = { readonly kept: Buffer | undefined; readonly sentBytes: number };

function findBound(call: SentChat, attempt: ChatAttempt, sent: Sent): CallBound {
  const { credit, facts } = call;
  const measured = credit?.plan ?? measureSent(sent);
  const readsMore = facts.continues !== undefined || measured.input.files > 0 || (credit?.plan === undefined && namesMore(call, sent));
  return { ...boundOfAttempt(call, attempt, measured, readsMore), provesCounts: facts.builtInTools === undefined };
}

function measureSent({ kept, sentBytes }: Sent): HeldPlan {
  const read = kept === undefined ? undefined : parseJsonObject(kept);
  return read === undefined ? { input: boundByBytes(sentBytes) } : { input: measureInput(read), serviceTier: textOf(read.service_tier) };
}

/** Whether the model may read what the request does not hold. One that was not kept is taken to. */
function namesMore({ turn }: SentChat, { kept }: Sent): boolean {
  return turn !== undefined || kept === undefined || namesKept.test(kept.toString());
}

/** What is not measured can be text as a whole. */
function boundByBytes(bytes: number): InputMeasure {
  return { textBytes: bytes, images: 0, files: 0, fileBytes: 0, offersTools: true };
}
