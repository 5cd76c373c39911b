import type { ValidationMode } from '../../../dialects/dialect-id.ts';
import { readRerankRequest } from '../../../dialects/rerank/read-rerank-request.ts';
import type { RerankForm } from '../../../dialects/rerank/rerank-form.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import type { RerankRequest } from '../../../inference/rerank.ts';
import { createFieldNotes, type TranslationNote } from '../../../inference/translation-notes.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** A validated ranking request. */
export type Ranking = {
  readonly request: RerankRequest;
  readonly facts: CallFacts;
  /** Notes of fields that no upstream supports. */
  readonly notes: readonly TranslationNote[];
};

/** Validates a ranking request. @throws GatewayError that names the field */
export function readRanking(body: JsonObject, form: RerankForm, mode: ValidationMode, isStrict: boolean): Ranking {
  const notes = createFieldNotes(isStrict);
  const request = readRerankRequest(body, form, mode, notes);
  // The model reads the query again with each document.
  const inputCharacters = request.documents.reduce((sum, { text }) => sum + text.length + request.query.length, 0);
  const facts = { requestedModel: request.requestedModel, stream: false, inputCharacters, needs: [], outputTokensMax: 0 };
  return { request, facts, notes: notes.list() };
}
