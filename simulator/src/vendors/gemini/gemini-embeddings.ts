import { countTokens } from '../../count-tokens.ts';
import { asText, isRecord, recordsOf } from '../../read-json.ts';
import type { Json, JsonRecord } from '../../simulated-vendor.ts';
import { embedText } from '../openai/embeddings.ts';
import { refuse } from './gemini-error.ts';

const usualDimensions = 256;
const dimensionsMax = 3072;
const textsMax = 250;
const batchMax = 100;
/** The longest text of a model, in tokens. */
const tokensMax = 2048;

/** Refuses fields that a message of Google's does not have. */
function allowOnly(object: JsonRecord, names: readonly string[], path: string): void {
  const unknown = Object.keys(object).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw refuse(`Invalid JSON payload received. Unknown name "${unknown}"${path === '' ? '' : ` at '${path}'`}: Cannot find field.`);
}

function readDimensions(value: Json | undefined): number {
  const dimensions = value ?? usualDimensions;
  if (typeof dimensions === 'number' && Number.isInteger(dimensions) && dimensions >= 1 && dimensions <= dimensionsMax) return dimensions;
  throw refuse(`outputDimensionality must be between 1 and ${dimensionsMax}.`);
}

function readContent(content: Json | undefined): string {
  const parts = isRecord(content) ? recordsOf(content['parts']) : [];
  const text = parts.map((part) => asText(part['text'])).join(' ');
  if (text === '') throw refuse('The text content is empty.');
  return text;
}

/** A text that is too long is cut, unless the client forbids it. */
function fit(text: string, mayCut: boolean): { readonly tokens: number; readonly truncated: boolean } {
  const tokens = countTokens(text);
  if (tokens <= tokensMax) return { tokens, truncated: false };
  if (!mayCut) throw refuse(`The input token count is ${tokens} but the model supports up to ${tokensMax}.`);
  return { tokens: tokensMax, truncated: true };
}

/** Gemini's `:batchEmbedContents`. The model of each request must be that of the path. */
export function batchEmbed(model: string, body: JsonRecord): JsonRecord {
  allowOnly(body, ['requests'], '');
  const requests = recordsOf(body['requests']);
  if (requests.length === 0) throw refuse('* BatchEmbedContentsRequest.requests: at least one request is required\n');
  if (requests.length > batchMax) throw refuse(`* BatchEmbedContentsRequest.requests: at most ${batchMax} requests can be in one batch\n`);
  let tokens = 0;
  const embeddings = requests.map((request, index) => {
    allowOnly(request, ['model', 'content', 'taskType', 'title', 'outputDimensionality'], `requests[${index}]`);
    if (asText(request['model']) !== `models/${model}`) throw refuse('* BatchEmbedContentsRequest.requests: model must match the path\n');
    const text = readContent(request['content']);
    tokens += fit(text, true).tokens;
    return { values: [...embedText(text, readDimensions(request['outputDimensionality']))] };
  });
  return { embeddings, usageMetadata: { promptTokenCount: tokens } };
}

/** Vertex AI's `:predict` of text models. */
function predictEmbeddings(model: string, body: JsonRecord): JsonRecord {
  allowOnly(body, ['instances', 'parameters', 'labels'], '');
  const instances = recordsOf(body['instances']);
  if (instances.length === 0 || instances.length > (model === 'gemini-embedding-001' ? 1 : textsMax))
    throw refuse(`${instances.length} instance(s) is not allowed per prediction.`);
  const parameters = isRecord(body['parameters']) ? body['parameters'] : {};
  allowOnly(parameters, ['autoTruncate', 'outputDimensionality'], 'parameters');
  const predictions = instances.map((instance, index): JsonRecord => {
    allowOnly(instance, ['content', 'task_type', 'title', 'mimeType'], `instances[${index}]`);
    const text = asText(instance['content']);
    if (text === '') throw refuse('The text content is empty.');
    const { tokens, truncated } = fit(text, parameters['autoTruncate'] !== false);
    const values = [...embedText(text, readDimensions(parameters['outputDimensionality']))];
    return { embeddings: { values, statistics: { token_count: tokens, truncated } } };
  });
  const characters = instances.reduce((sum, instance) => sum + asText(instance['content']).length, 0);
  return { predictions, metadata: { billableCharacterCount: characters } };
}

/** Vertex AI's `:predict` of the multimodal model, which takes one instance and reports no tokens. */
function predictMultimodal(body: JsonRecord): JsonRecord {
  const instances = recordsOf(body['instances']);
  const text = asText(instances[0]?.['text']);
  if (instances.length !== 1 || text === '') throw refuse('Exactly one instance with text, image or video is allowed per prediction.');
  const { dimension = 1408 } = isRecord(body['parameters']) ? body['parameters'] : {};
  if (typeof dimension !== 'number' || ![128, 256, 512, 1408].includes(dimension)) throw refuse('dimension must be 128, 256, 512 or 1408.');
  return { predictions: [{ textEmbedding: [...embedText(text, dimension)] }] };
}

/** Vertex AI's `:embedContent`: one content per request. */
function embedContent(body: JsonRecord): JsonRecord {
  allowOnly(body, ['content', 'embedContentConfig'], '');
  const config = isRecord(body['embedContentConfig']) ? body['embedContentConfig'] : {};
  allowOnly(
    config,
    ['taskType', 'title', 'outputDimensionality', 'autoTruncate', 'documentOcr', 'audioTrackExtraction'],
    'embed_content_config',
  );
  const text = readContent(body['content']);
  const { tokens, truncated } = fit(text, config['autoTruncate'] !== false);
  const values = [...embedText(text, readDimensions(config['outputDimensionality']))];
  return { embedding: { values }, usageMetadata: { promptTokenCount: tokens, totalTokenCount: tokens }, truncated };
}

/** The answer of Vertex AI to a method of an embedding model; undefined for other models and methods. */
export function embedAtVertex(model: string, method: string, body: JsonRecord): JsonRecord | undefined {
  if (!model.includes('embedding')) return undefined;
  const isLater = model.includes('gemini') && model !== 'gemini-embedding-001';
  if (method === 'embedContent' && isLater) return embedContent(body);
  if (method !== 'predict' || isLater) throw refuse(`${model} does not support ${method}.`);
  return model.startsWith('multimodal') ? predictMultimodal(body) : predictEmbeddings(model, body);
}
