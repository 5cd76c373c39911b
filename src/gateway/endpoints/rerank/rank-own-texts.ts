import type { RerankForm } from '../../../dialects/rerank/rerank-form.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { numberOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import type { RankTexts } from '../../../tools/file-search/rank-texts.ts';
import { makeOwnCall } from '../shared/own-call.ts';
import type { PlainServices } from '../shared/plain-call.ts';
import { rank } from './rank-call.ts';
import { rerankVoice } from './rerank-voice.ts';

/** The key name of these calls in the books of the user whose files are searched. */
const keyName = 'file search';

const form: RerankForm = 'cohere-v2';

/** Scores how well texts fit a query, with a model that clients could call too. */
export function rankWithModel(gateway: PlainServices, model: string): RankTexts {
  return async (query, documents, owner, signal) => {
    const body = { model, query, documents: [...documents] };
    const reply = await makeOwnCall(gateway, { ...owner, body, keyName }, signal, (call) => rank(gateway, call, form, rerankVoice(form)));
    const scores = readScores(reply, documents.length);
    if (scores === undefined)
      throw new GatewayError('upstream_invalid_reply', 'the reply of the ranking model does not have a score for each text');
    return toUnit(scores);
  };
}

/** The scores in the order of the texts; undefined if a text has none. */
export function readScores({ results }: JsonObject, count: number): readonly number[] | undefined {
  if (!Array.isArray(results)) return undefined;
  const scores = new Map<number, number>();
  for (const result of results as readonly JsonValue[]) {
    const { index, relevance_score: score } = isJsonObject(result) ? result : {};
    const value = numberOf(score);
    if (typeof index === 'number' && value !== undefined) scores.set(index, value);
  }
  const all = Array.from({ length: count }, (_, index) => scores.get(index));
  return all.every((score) => score !== undefined) ? all : undefined;
}

/** Maps scores to the range from 0 to 1. Some servers return the raw output of their model; its order is kept. */
export function toUnit(scores: readonly number[]): readonly number[] {
  const isShare = scores.every((score) => score >= 0 && score <= 1);
  return isShare ? scores : scores.map((score) => 1 / (1 + Math.exp(-score)));
}
