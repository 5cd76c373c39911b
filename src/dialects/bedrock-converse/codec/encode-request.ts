import { describeSchema } from '../../../inference/describe-schema.ts';
import { dropVendorFields } from '../../../inference/drop-vendor-fields.ts';
import type { InferenceRequest, TextPart, Turn } from '../../../inference/inference-request.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import { noteLostContent, type MissingCapabilities } from '../../../inference/note-lost-content.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { EncodedRequest, RequestFit } from '../../chat-codec.ts';
import { CachePoints } from './cache-points.ts';
import { encodeConfig } from './encode-config.ts';
import { encodeMessages } from './encode-messages.ts';
import { encodeTools, needsAnswerTool, type EncodedTools } from './encode-tools.ts';
import { traitsOf } from './traits.ts';

/** Writes a request of Converse. The model and the choice between whole and streamed are in the path. */
export function encodeRequest(request: InferenceRequest, fit: RequestFit): EncodedRequest {
  const { notes, traits } = fit;
  const converse = traitsOf(traits);
  const points = new CachePoints(request, converse.cachePoints, notes);
  const tools = encodeTools(request, fit, points);
  const config = encodeConfig(request, fit);
  const system = encodeSystem(request, fit, points, tools);
  const turns = converse.systemText ? request.turns : withSystemText(request.turns, system, fit);
  const messages = encodeMessages(turns, { fit, toWireName: tools.toWireName, points });
  const body: JsonObject = {
    ...(system.length === 0 || !converse.systemText ? {} : { system }),
    messages,
    ...config.members,
    ...tools.members,
    ...encodeOutputFormat(request, fit),
  };
  noteLostContent(request, missingCapabilities(fit), notes);
  dropVendorFields(points.unread(request.vendorFields), notes);
  return {
    body,
    ...(tools.renamed.size === 0 ? {} : { toolNames: tools.renamed }),
    ...(tools.answerTool === undefined ? {} : { answerTool: tools.answerTool }),
    ...(config.cutAt.length === 0 ? {} : { cutAt: config.cutAt }),
    ...(tools.members.toolConfig !== undefined && converse.tools === 'whole' ? { streams: false } : {}),
  };
}

const missingCapabilities = ({ proofOrigin }: RequestFit): MissingCapabilities => ({
  proofOrigin,
  endUser: true,
  verbosity: true,
  imageDetail: true,
  mediaNames: true,
  citations: 'all',
  takesReasoning: ({ proof }) => proof?.origin === proofOrigin,
});

/** The blocks of the system text: the client's, and what the gateway asks for. */
function encodeSystem(request: InferenceRequest, fit: RequestFit, points: CachePoints, tools: EncodedTools): readonly JsonObject[] {
  const blocks = request.instructions.flatMap(({ text, path }) => (text.trim() === '' ? [] : [{ text }, ...points.after(path, 'system')]));
  const asked = [tools.request, encodeJsonHint(request, fit)].flatMap((text) => (text === undefined ? [] : [{ text }]));
  return [...blocks, ...asked];
}

/** Puts system text before the user's first text, for models that take none. */
function withSystemText(turns: readonly Turn[], system: readonly JsonObject[], { notes }: RequestFit): readonly Turn[] {
  const text = system.flatMap((block) => (typeof block.text === 'string' ? [block.text] : [])).join('\n\n');
  if (text === '') return turns;
  notes.adapted('instructions', 'this model takes no system text; it stands before the first message');
  const part: TextPart = { kind: 'text', text };
  return [{ role: 'user', parts: [part] }, ...turns];
}

/** Requests in text what the model has no setting for. */
function encodeJsonHint(request: InferenceRequest, { traits, notes }: RequestFit): string | undefined {
  const { outputFormat } = request;
  if (outputFormat === undefined) return undefined;
  const rule = 'and nothing else: no words before or after it, no code fence.';
  if (outputFormat.kind === 'json') {
    notes.emulated('outputFormat', 'this model does not guarantee the format; the prompt asks for it');
    return `Answer with one JSON object ${rule}`;
  }
  if (traits.structuredOutput || needsAnswerTool(request, { traits })) return undefined;
  notes.emulated('outputFormat', 'this model does not guarantee the format; the prompt asks for it');
  return `Answer with JSON of this schema ${rule}\n${JSON.stringify(outputFormat.schema)}`;
}

/**
 * Whether AWS enforces the format. It compiles a subset of JSON Schema and refuses a schema beyond it, so what it
 * accepts it enforces.
 */
export function holdsFormat({ outputFormat }: InferenceRequest, { structuredOutput }: ModelTraits): boolean {
  return outputFormat === undefined || (outputFormat.kind === 'json-schema' && structuredOutput);
}

/** The schema is JSON as a text. Source: JsonSchemaDefinition of the Bedrock API reference. */
function encodeOutputFormat({ outputFormat }: InferenceRequest, { traits }: RequestFit): JsonObject {
  if (outputFormat?.kind !== 'json-schema' || !traits.structuredOutput) return {};
  const { name } = outputFormat;
  const jsonSchema = { schema: JSON.stringify(describeSchema(outputFormat)), ...(name === undefined ? {} : { name }) };
  return { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } };
}
