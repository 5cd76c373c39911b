import { GatewayError } from '../../inference/gateway-error.ts';
import type { RerankDocument, RerankRequest } from '../../inference/rerank.ts';
import type { FieldNotes } from '../../inference/translation-notes.ts';
import { countOf, itemsOf, textOf, textsOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import { compileCheckLater } from '../../platform/schema/compile-check.ts';
import { describeProblems } from '../../platform/schema/describe-problems.ts';
import type { ValidationMode } from '../dialect-id.ts';
import { formatPath } from '../format-path.ts';
import { wordProblem } from '../word-problem.ts';
import type { RerankForm } from './rerank-form.ts';
import { rerankSchema } from './request-schema.ts';

const check = compileCheckLater(rerankSchema);

/** The fields of each form, for strict validation. */
const documentedFields: Readonly<Record<RerankForm, readonly string[]>> = {
  'cohere-v1': ['top_n', 'return_documents', 'rank_fields', 'max_chunks_per_doc'],
  'cohere-v2': ['top_n', 'max_tokens_per_doc', 'priority'],
  jina: ['top_n', 'return_documents'],
  voyage: ['top_k', 'return_documents', 'truncation'],
};
const commonFields = ['model', 'query', 'documents'];

/**
 * Validates a request in any of the forms and reads it. A field that no upstream has is noted.
 * @throws GatewayError (400) that names the field
 */
export function readRerankRequest(body: JsonObject, form: RerankForm, mode: ValidationMode, notes: FieldNotes): RerankRequest {
  if (!check(body)) throw describe(body);
  const knownFields = [...commonFields, ...documentedFields[form]];
  const unknown = mode === 'documented' ? Object.keys(body).find((name) => !knownFields.includes(name)) : undefined;
  if (unknown !== undefined)
    throw new GatewayError('unknown_field', `${unknown.slice(0, 80)}: is not a known field; known are ${knownFields.join(', ')}`, {
      param: unknown.slice(0, 80),
    });
  noteUnknown(body, notes);
  const rankFields = (body['rank_fields'] ?? undefined) === undefined ? undefined : textsOf(body['rank_fields']);
  const resultsMax = readResultsMax(body);
  const tokensPerDocumentMax = countOf(body['max_tokens_per_doc']);
  const truncation = body['truncation'];
  const returns = body['return_documents'];
  return {
    requestedModel: textOf(body['model']) ?? '',
    query: textOf(body['query']) ?? '',
    documents: itemsOf(body['documents']).map((document, index) => readDocument(document, index, rankFields)),
    // Jina's interface returns documents by default, the others only on request.
    returnsDocuments: typeof returns === 'boolean' ? returns : form === 'jina',
    ...(resultsMax !== undefined && { resultsMax }),
    ...(tokensPerDocumentMax !== undefined && { tokensPerDocumentMax }),
    ...(typeof truncation === 'boolean' && { truncates: truncation }),
  };
}

const readFields: ReadonlySet<string> = new Set([...commonFields, ...Object.keys(rerankSchema.properties)]);

function noteUnknown(body: JsonObject, notes: FieldNotes): void {
  if ((body['max_chunks_per_doc'] ?? undefined) !== undefined)
    notes.dropped(
      'max_chunks_per_doc',
      'vendors no longer split documents into chunks: max_tokens_per_doc sets the length at which they are truncated',
    );
  for (const name of Object.keys(body)) if (!readFields.has(name)) notes.dropped(name.slice(0, 80), 'rankings do not use this field');
}

/** Vendors have two names for the number of results, and programs send either. */
function readResultsMax({ top_n: topN = null, top_k: topK = null }: JsonObject): number | undefined {
  if (topN !== null && topK !== null && topN !== topK)
    throw new GatewayError(
      'invalid_value',
      `top_k: must equal top_n (${JSON.stringify(topN)}) or be left out, because both are the number of results`,
      {
        param: 'top_k',
      },
    );
  return countOf(topN) ?? countOf(topK);
}

function readDocument(document: JsonValue, index: number, rankFields: readonly string[] | undefined): RerankDocument {
  if (typeof document === 'string') return { text: document, original: document };
  const original = isJsonObject(document) ? document : {};
  const named = (rankFields ?? ['text']).flatMap((name): [string, string][] => {
    const value = Object.hasOwn(original, name) ? original[name] : undefined;
    return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [];
  });
  if (named.length === 0) throw withoutText(index, rankFields);
  const [first] = named;
  const text = named.length === 1 && first?.[0] === 'text' ? first[1] : named.map(([name, value]) => `${name}: ${value}`).join('\n');
  return { text, original };
}

function withoutText(index: number, rankFields: readonly string[] | undefined): GatewayError {
  const param = rankFields === undefined ? `documents[${index}].text` : `documents[${index}]`;
  const expected =
    rankFields === undefined ? 'is required: documents are texts, or objects with a text' : `must have one of ${rankFields.join(', ')}`;
  return new GatewayError(rankFields === undefined ? 'missing_required_field' : 'invalid_value', `${param}: ${expected}`, { param });
}

function describe(body: JsonObject): GatewayError {
  const [problem] = describeProblems(rerankSchema, body, 1);
  if (problem === undefined) return new GatewayError('invalid_value', 'The request body does not fit the interface.');
  const param = formatPath(problem.path) || 'body';
  return new GatewayError(problem.rule === 'required' ? 'missing_required_field' : 'invalid_value', `${param}: ${wordProblem(problem)}`, {
    param,
  });
}
