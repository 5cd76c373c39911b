import type { InferenceRequest, OutputFormat } from '../../../inference/inference-request.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import { strictOf } from '../../../inference/strict-schema.ts';
import { fitToolNames } from '../../../inference/tool-names.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { mentionsJson } from '../../mentions-json.ts';
import { functionChoice } from './decode-tools.ts';
import { member } from './member.ts';

/**
 * An answer format in the request: members of the body, a hint in the system text, and a function that replaces the
 * format.
 */
export type EncodedFormat = { readonly members: JsonObject; readonly hint?: string; readonly answerTool?: string };

/** The vendor's rule for names of functions and schemas. */
export const nameRules = { pattern: /[a-zA-Z0-9_-]/, charactersMax: 64 };

const jsonHint = 'Answer with a single JSON object and nothing else.';

type SchemaFormat = Extract<OutputFormat, { kind: 'json-schema' }>;

const nameOf = ({ name }: SchemaFormat, otherwise: string): string =>
  name === undefined ? otherwise : fitToolNames([name], nameRules).toWireName(name);

/** The vendor refuses JSON mode unless the conversation mentions JSON. */
function encodeJson(request: InferenceRequest): EncodedFormat {
  return { members: { response_format: { type: 'json_object' } }, ...(mentionsJson(request) ? {} : { hint: jsonHint }) };
}

function encodeSchema(format: SchemaFormat, request: InferenceRequest): EncodedFormat {
  const { description, schema } = format;
  const strict = strictOf(format, request);
  return {
    members: {
      response_format: {
        type: 'json_schema',
        json_schema: { name: nameOf(format, 'answer'), ...member('description', description), schema, ...member('strict', strict) },
      },
    },
  };
}

/** A function that must be called once and whose arguments are the answer. */
function encodeAnswerTool(format: SchemaFormat, { chat }: ModelTraits): EncodedFormat {
  const name = nameOf(format, 'answer');
  const description = format.description ?? 'Give the answer.';
  return {
    members: {
      tools: [{ type: 'function', function: { name, description, parameters: format.schema } }],
      tool_choice: functionChoice(name),
      ...(chat.parallelToolCallsField ? { parallel_tool_calls: false } : {}),
    },
    answerTool: name,
  };
}

function encodeSchemaHint({ schema, description }: SchemaFormat): EncodedFormat {
  const about = description === undefined ? '' : ` (${description})`;
  return { members: {}, hint: `${jsonHint} The object${about} must be valid by this JSON schema:\n${JSON.stringify(schema)}` };
}

/**
 * The vendor enforces only a strict schema while the model writes. A server without schemas may not have JSON mode
 * either.
 */
export function holdsFormat(request: InferenceRequest, traits: ModelTraits): boolean {
  const { outputFormat } = request;
  if (outputFormat === undefined) return true;
  return traits.structuredOutput && (outputFormat.kind === 'json' || strictOf(outputFormat, request) === true);
}

/**
 * Writes the answer format. If the model does not accept a schema, a forced function replaces it, or a hint if that is
 * impossible.
 */
export function encodeOutputFormat(request: InferenceRequest, { traits, notes }: RequestFit): EncodedFormat {
  const { outputFormat, tools } = request;
  if (outputFormat === undefined) return { members: {} };
  if (outputFormat.kind === 'json') return encodeJson(request);
  if (traits.structuredOutput) return encodeSchema(outputFormat, request);
  // A forced function would keep the model from calling the client's functions.
  const isFree = !tools.some((tool) => tool.kind === 'function') && outputFormat.schema.type === 'object';
  if (traits.chat.forcedToolChoice && isFree) {
    notes.emulated('outputFormat', 'the model does not accept a schema; it must call a function with that schema instead');
    return encodeAnswerTool(outputFormat, traits);
  }
  notes.emulated('outputFormat', 'the model does not accept a schema; its instructions ask for the format, which it may not follow');
  return encodeSchemaHint(outputFormat);
}
