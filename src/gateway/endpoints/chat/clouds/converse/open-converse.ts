import type { FieldNotes, TranslationNote } from '../../../../../inference/translation-notes.ts';
import { itemsOf, membersOf, numberOf, textOf, textsOf } from '../../../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../../../platform/json/json-value.ts';
import { parseIfJson } from '../../../../../platform/json/parse-if-json.ts';
import { openBlock, openList, openText, refuse } from './open-blocks.ts';
import { converseNames } from './word-for-converse.ts';

/** What reading a request of Converse needs besides its body. */
export type ConverseOpening = {
  readonly notes: FieldNotes;
  /** The output limit of a request without one: that of the model. */
  readonly outputTokensMax: number;
  /** Whether its tokens are only counted. */
  readonly isCount: boolean;
};

/** A request of Converse as one of Messages, and what its reply needs to know. */
export type OpenedConverse = {
  readonly body: JsonObject;
  readonly notes: readonly TranslationNote[];
  /** JSON Pointers to members of the reply of the model that the client wants, such as `/stop_sequence`. */
  readonly pointers: readonly string[];
};

/**
 * Turns a request of Converse into one of Messages, without `model` and `stream`.
 * Source: Converse of the Bedrock API reference.
 * @throws GatewayError if it has a member that has no form there
 */
export function openConverse(body: JsonObject, { notes, outputTokensMax, isCount }: ConverseOpening): OpenedConverse {
  const { messages, system, inferenceConfig, toolConfig, outputConfig, guardrailConfig, promptVariables } = body;
  if (guardrailConfig !== undefined)
    return refuse('guardrailConfig', 'guardrails are chosen by the operator of this gateway; leave it out');
  if (promptVariables !== undefined) return refuse('promptVariables', 'this gateway has no stored prompts; send the messages');
  if (messages === undefined) return refuse('messages', 'is required');
  noteUnused(body, notes);
  const { maxTokens, temperature, topP, stopSequences } = membersOf(inferenceConfig);
  const opened: JsonObject = {
    ...(isCount ? {} : { max_tokens: maxTokens ?? outputTokensMax }),
    messages: openMessages(messages),
    ...(system === undefined ? {} : { system: openList(system, 'system', openSystem) }),
    ...present({ temperature, top_p: topP, stop_sequences: stopSequences }),
    ...openTools(toolConfig),
    ...openFormat(outputConfig),
  };
  const whole = mergeFields(opened, body.additionalModelRequestFields);
  return { body: whole, notes: notes.list(), pointers: textsOf(body.additionalModelResponseFieldPaths) };
}

function present(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Names what changes nothing here. */
function noteUnused({ requestMetadata, performanceConfig, serviceTier }: JsonObject, notes: FieldNotes): void {
  if (requestMetadata !== undefined) notes.dropped('requestMetadata', 'it is for the logs of AWS; send x-weir-tags');
  if ((membersOf(performanceConfig).latency ?? 'standard') !== 'standard')
    notes.dropped('performanceConfig.latency', 'the operator of the gateway decides where calls go');
  if ((membersOf(serviceTier).type ?? 'default') !== 'default')
    notes.dropped('serviceTier.type', 'the operator of the gateway decides where calls go');
}

function openMessages(messages: JsonValue): readonly JsonObject[] {
  if (!Array.isArray(messages)) return refuse('messages', 'must be a list');
  return itemsOf(messages).map((message, index) => {
    const { role, content } = membersOf(message);
    return { role, content: openList(content, `messages.${index}.content`, openBlock) };
  });
}

function openSystem(kind: string, value: JsonObject, path: string): JsonObject {
  return kind === 'text' ? openText(value) : refuse(path, 'this gateway takes text and cachePoint in system');
}

function openTools(config: JsonValue | undefined): JsonObject {
  if (config === undefined) return {};
  const { tools, toolChoice } = membersOf(config);
  const opened = openList(tools, 'toolConfig.tools', (kind, value, path) => {
    if (kind !== 'toolSpec') return refuse(path, 'this gateway takes toolSpec and cachePoint in tools');
    const { name, description, inputSchema, strict } = value;
    return { name, ...present({ description, strict }), input_schema: membersOf(inputSchema).json };
  });
  return { tools: opened, ...(toolChoice === undefined ? {} : { tool_choice: openChoice(membersOf(toolChoice)) }) };
}

function openChoice({ auto, any, tool }: JsonObject): JsonObject {
  if (tool !== undefined) return { type: 'tool', name: membersOf(tool).name };
  if (any !== undefined) return { type: 'any' };
  return auto === undefined ? refuse('toolConfig.toolChoice', 'must have one of auto, any and tool') : { type: 'auto' };
}

function openFormat(config: JsonValue | undefined): JsonObject {
  const { textFormat } = membersOf(config);
  if (textFormat === undefined) return {};
  const path = 'outputConfig.textFormat';
  const { type, structure } = membersOf(textFormat);
  if (type !== 'json_schema') return refuse(`${path}.type`, 'must be "json_schema"');
  const schema = parseSchema(membersOf(membersOf(structure).jsonSchema).schema, `${path}.structure.jsonSchema.schema`);
  return { output_config: { format: { type: 'json_schema', schema } } };
}

function parseSchema(text: JsonValue | undefined, path: string): JsonValue {
  return parseIfJson(textOf(text) ?? '') ?? refuse(path, 'must be a JSON schema, written as a text');
}

/** Members of Messages that the model's own fields may not set, and where they belong. */
const places: Readonly<Record<string, string | undefined>> = {
  ...converseNames,
  model: 'the path',
  stream: 'the path',
  messages: 'messages',
  system: 'system',
};

/**
 * Adds the members for the model itself. Those of Claude are members of Messages; those of Nova and of OpenAI's models
 * have a meaning there.
 */
function mergeFields(opened: JsonObject, additional: JsonValue | undefined): JsonObject {
  if (additional === undefined) return opened;
  const path = 'additionalModelRequestFields';
  const { inferenceConfig, reasoningConfig, reasoning_effort: reasoningEffort, ...fields } = membersOf(additional);
  for (const name of Object.keys(fields)) {
    const place = Object.hasOwn(places, name) ? places[name] : undefined;
    if (place !== undefined) return refuse(`${path}.${name}`, `belongs to ${place}`);
  }
  const topK = numberOf(membersOf(inferenceConfig).topK);
  const { type, maxReasoningEffort } = membersOf(reasoningConfig);
  const effort = (type === 'enabled' ? maxReasoningEffort : undefined) ?? reasoningEffort;
  return {
    ...opened,
    ...(topK === undefined ? {} : { top_k: topK }),
    ...(type === 'enabled' ? { thinking: { type: 'adaptive' } } : {}),
    ...fields,
    ...(effort === undefined ? {} : { output_config: { ...membersOf(opened.output_config), ...membersOf(fields.output_config), effort } }),
  };
}
