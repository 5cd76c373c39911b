import type { RerankForm } from '../../../dialects/rerank/rerank-form.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { numberOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import type { RankTexts } from '../../../tools/file-search/rank-texts.ts';
import { makeOwnCall } from '../shared/own-call.ts';
import type { PlainServices } from '../shared/plain-call.ts';
import { rank } from './rank-call.ts';
import { rerankVoice } from './rerank-voice.ts';

/** Names the calls that no key made, in the books of the user whose files they are for. */
const keyName = 'file search';

const form: RerankForm = 'cohere-v2';

/** Says how well texts fit a query, by a model that clients could ask for too. */
export function rankWithModel(gateway: PlainServices, model: string): RankTexts {
  return async (query, documents, owner, signal) => {
    const body = { model, query, documents: [...documents] };
    const reply = await makeOwnCall(gateway, { ...owner, body, keyName }, signal, (call) => rank(gateway, call, form, rerankVoice(form)));
    const scores = readScores(reply, documents.length);
    if (scores === undefined) throw new GatewayError('upstream_invalid_reply', 'the ranking model left out texts');
    return toUnit(scores);
  };
}

/** The scores by the places of their texts; undefined where a text has none. */
export function readScores({ results }: JsonObject, count: number): readonly number[] | undefined {
  if (!Array.isArray(results)) return undefined;
  const scores = new Map<number, number>();
  for (const result of results as readonly JsonValue[]) {
    const { index, relevance_score: score } = isJsonObject(result) ? result : {};
    const known = numberOf(score);
    if (typeof index === 'number' && known !== undefined) scores.set(index, known);
  }
  const all = Array.from({ length: count }, (_, index) => scores.get(index));
  return all.every((score) => score !== undefined) ? all : undefined;
}

/** Some servers give what their model computes and no share of 1: the order stays. */
export function toUnit(scores: readonly number[]): readonly number[] {
  const isShare = scores.every((score) => score >= 0 && score <= 1);
  return isShare ? scores : scores.map((score) => 1 / (1 + Math.exp(-score)));
}
