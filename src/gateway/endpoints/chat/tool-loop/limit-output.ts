import type { CallEntry } from '../../../../billing/ledger/call-entry.ts';
import type { InferenceRequest } from '../../../../inference/inference-request.ts';

/** Vendors refuse smaller limits, and less says nothing. */
const outputTokensMin = 16;

/**
 * The client's limit is one of the whole reply: what earlier rounds wrote counts against it. Undefined when too little of it is left for another round.
 * @param entries rows of the rounds so far, with those of tools among them
 */
export function limitOutput(request: InferenceRequest, entries: readonly CallEntry[]): InferenceRequest | undefined {
  const { outputTokensMax } = request;
  if (outputTokensMax === undefined || entries.length === 0) return request;
  const left = outputTokensMax - entries.reduce((sum, { usage }) => sum + (usage.outputTokens ?? 0), 0);
  return left < outputTokensMin ? undefined : { ...request, outputTokensMax: left };
}
