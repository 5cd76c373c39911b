import { GatewayError } from '../../inference/gateway-error.ts';
import type { TranslationNote } from '../../inference/translation-notes.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';

/** The form of requests for embeddings and of their replies at an upstream. */
export type EmbeddingForm = 'openai' | 'gemini-batch' | 'vertex-predict' | 'vertex-content' | 'vertex-multimodal';

type Fields = {
  readonly texts: readonly string[];
  /** The length of the vectors. */
  readonly dimensions: JsonValue | undefined;
  /** Google's field for what the vectors are used for, which clients may add. */
  readonly taskType: JsonValue | undefined;
};

/**
 * Writes a checked request of OpenAI's form for an upstream.
 * @param model the model's name at the upstream, which some forms repeat in the body
 * @throws GatewayError untranslatable_field for input that the form cannot express
 */
export function writeEmbeddings(body: JsonObject, form: EmbeddingForm, model: string): JsonObject {
  // Clients send null for absent fields; vendors refuse it.
  const present = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  if (form === 'openai') return { ...present, model };
  const fields = { texts: readTexts(present['input']), dimensions: present['dimensions'], taskType: present['task_type'] };
  return writers[form](fields, model);
}

/** The number of texts of a request of OpenAI's form. A list of tokens is one text. */
export function countTexts(input: JsonValue | undefined): number {
  return Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1;
}

/** The fields that Google's forms take, and those that the gateway itself obeys. */
const known: ReadonlySet<string> = new Set(['model', 'input', 'dimensions', 'encoding_format', 'task_type']);

/** The fields of a request that Google's forms cannot express. */
export function listUnwritten(body: JsonObject): readonly TranslationNote[] {
  const unwritten = Object.keys(body).filter((field) => !known.has(field) && body[field] !== null);
  return unwritten.slice(0, 32).map((field) => ({ kind: 'dropped', field: field.slice(0, 80), reason: 'the model has no such field' }));
}

/** Fields with a value. */
function withValues(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined));
}

const writers: Readonly<Record<Exclude<EmbeddingForm, 'openai'>, (fields: Fields, model: string) => JsonObject>> = {
  'gemini-batch': ({ texts, dimensions, taskType }, model) => ({
    requests: texts.map((text) => ({
      model: model.includes('/') ? model : `models/${model}`,
      content: { parts: [{ text }] },
      ...withValues({ taskType, outputDimensionality: dimensions }),
    })),
  }),
  'vertex-predict': ({ texts, dimensions, taskType }) => ({
    instances: texts.map((content) => ({ content, ...withValues({ task_type: taskType }) })),
    parameters: { autoTruncate: false, ...withValues({ outputDimensionality: dimensions }) },
  }),
  'vertex-content': ({ texts, dimensions, taskType }) => ({
    content: { role: 'user', parts: [{ text: onlyText(texts) }] },
    embedContentConfig: { autoTruncate: false, ...withValues({ taskType, outputDimensionality: dimensions }) },
  }),
  'vertex-multimodal': ({ texts, dimensions }) => ({
    instances: [{ text: onlyText(texts) }],
    parameters: withValues({ dimension: dimensions }),
  }),
};

function onlyText([text = '', another]: readonly string[]): string {
  if (another !== undefined) throw untranslatable('this model takes one text per request');
  return text;
}

function readTexts(input: JsonValue | undefined): readonly string[] {
  const items = Array.isArray(input) ? (input as readonly JsonValue[]) : [input];
  return items.map((item) => {
    if (typeof item === 'string') return item;
    throw untranslatable('this model takes texts and no tokens, which are those of another model');
  });
}

function untranslatable(reason: string): GatewayError {
  return new GatewayError('untranslatable_field', `input: ${reason}.`, { param: 'input' });
}
