import { GatewayError } from '../../../inference/gateway-error.ts';
import type { VendorField } from '../../../inference/inference-request.ts';
import { meaningOf, membersOf, objectsOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { isSaid, listUnread } from '../../list-unread.ts';
import { openaiHintFields } from '../../openai-hint-fields.ts';
import { decodeAnnotation } from './citations.ts';

/** Fields that have a neutral name. Reasoning fields count only if their value was understood. */
const namedFields = new Set([
  'model',
  'messages',
  'stream',
  'tools',
  'functions',
  'tool_choice',
  'function_call',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'response_format',
  'temperature',
  'top_p',
  'top_k',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'user',
  'web_search_options',
  'n',
]);

/** Fields of OpenAI, services and servers that affect caching, bookkeeping and speed. */
const hintFields = new Set([
  ...openaiHintFields,
  'prediction',
  'cache_control',
  'session_id',
  'usage',
  'reasoning_format',
  'return_progress',
  'timings_per_token',
  'keep_alive',
  'cache_prompt',
  'cache_salt',
  'priority',
  'request_id',
]);

/** Whether a field has the value that applies without it. */
function isDefault(field: string, value: JsonValue): boolean {
  if (!isSaid(value)) return true;
  if (field === 'top_logprobs') return value === 0;
  return field === 'modalities' && Array.isArray(value) && value.every((modality) => modality === 'text');
}

/**
 * The fields without a neutral name, in the order of the request.
 * @param understood further fields that were read into the neutral form
 */
export function decodeVendorFields(body: JsonObject, understood: readonly string[]): readonly VendorField[] {
  const top = listUnread(body, '', new Set([...namedFields, ...understood]), hintFields);
  return [
    // The gateway writes the stream itself, so its form is the gateway's decision.
    ...top.filter(({ field, value }) => !isDefault(field, value) && field !== 'stream_options'),
    ...listUnread(body.stream_options, 'stream_options', new Set(['include_usage']), new Set(['include_obfuscation'])),
    ...listMessageFields(body.messages),
    ...listToolFields(body),
  ];
}

const messageMembers = new Set([
  'role',
  'content',
  'name',
  'refusal',
  'tool_calls',
  'function_call',
  'tool_call_id',
  'audio',
  'reasoning_content',
  'reasoning',
  'thinking',
  'reasoning_details',
  'extra_content',
  'annotations',
]);
const messageHints = new Set(['cache_control']);
const partHints = new Set(['cache_control', 'prompt_cache_breakpoint']);

/**
 * The members that are read of each kind of part, and of the object in it. Parts of other kinds are kept or refused
 * whole.
 */
const partMembers: Readonly<Record<string, { readonly holder?: string; readonly read: ReadonlySet<string> }>> = {
  text: { read: new Set(['type', 'text']) },
  refusal: { read: new Set(['type', 'refusal']) },
  image_url: { holder: 'image_url', read: new Set(['url', 'detail']) },
  input_audio: { holder: 'input_audio', read: new Set(['data', 'format']) },
  file: { holder: 'file', read: new Set(['file_data', 'file_id', 'filename']) },
};
const details = new Set<unknown>(['low', 'high', 'auto', 'original']);

const isSystem = ({ role }: JsonObject): boolean => role === 'system' || role === 'developer';

function listMessageFields(messages: JsonValue | undefined): readonly VendorField[] {
  const list = objectsOf(messages);
  const spoken = list.findIndex((message) => !isSystem(message));
  return list.flatMap((message, at) => {
    const path = `messages[${at}]`;
    // Leading instructions have no speakers in other dialects.
    const named = spoken === -1 || at < spoken ? listUnread({ name: message.name }, path, new Set()) : [];
    const sources = objectsOf(message.annotations).flatMap((annotation, index): readonly VendorField[] =>
      message.role === 'assistant' && decodeAnnotation(annotation) !== undefined
        ? []
        : [{ field: `${path}.annotations[${index}]`, value: annotation, weight: 'matters' }],
    );
    const calls = objectsOf(message.tool_calls).flatMap((call, index) => listCallFields(call, `${path}.tool_calls[${index}]`));
    const parts = objectsOf(message.content).flatMap((part, index) => listPartFields(part, `${path}.content[${index}]`));
    const audio = listUnread(message.audio, `${path}.audio`, new Set(['id', 'transcript']));
    return [...listUnread(message, path, messageMembers, messageHints), ...named, ...sources, ...calls, ...parts, ...audio];
  });
}

function listPartFields(part: JsonObject, path: string): readonly VendorField[] {
  const members = meaningOf(part.type, partMembers);
  if (members === undefined) return [];
  const { holder, read } = members;
  if (holder === undefined) return listUnread(part, path, read, partHints);
  const inner = part[holder];
  const detail = holder === 'image_url' ? membersOf(inner).detail : undefined;
  return [
    ...listUnread(part, path, new Set(['type', holder]), partHints),
    ...listUnread(inner, `${path}.${holder}`, read),
    ...(isSaid(detail) && !details.has(detail) ? [{ field: `${path}.${holder}.detail`, value: detail, weight: 'matters' as const }] : []),
  ];
}

/** Calls of custom tools are kept or refused whole. */
function listCallFields(call: JsonObject, path: string): readonly VendorField[] {
  if (!isJsonObject(call.function)) return [];
  return [
    ...listUnread(call, path, new Set(['id', 'type', 'index', 'function', 'extra_content'])),
    ...listUnread(call.function, `${path}.function`, new Set(['name', 'arguments'])),
  ];
}

const functionMembers = new Set(['name', 'description', 'parameters', 'strict']);

function listToolFields(body: JsonObject): readonly VendorField[] {
  const { tools, functions, tool_choice: choice, response_format: format, web_search_options: search } = body;
  const { user_location: location, search_context_size: size } = membersOf(search);
  const isOddSize = isSaid(size) && !sizes.has(size);
  return [
    ...(isOddSize ? [{ field: 'web_search_options.search_context_size', value: size, weight: 'matters' as const }] : []),
    ...objectsOf(tools).flatMap((tool, at) =>
      isJsonObject(tool.function)
        ? [
            ...listUnread(tool, `tools[${at}]`, new Set(['type', 'function']), messageHints),
            ...listUnread(tool.function, `tools[${at}].function`, functionMembers),
          ]
        : [],
    ),
    ...objectsOf(functions).flatMap((definition, at) => listUnread(definition, `functions[${at}]`, functionMembers)),
    ...listUnread(choice, 'tool_choice', new Set(['type', 'function', 'custom', 'allowed_tools', 'name'])),
    ...(meaningOf(membersOf(format).type, answerForms) === undefined ? [] : listUnread(format, 'response_format', formatMembers)),
    ...listUnread(membersOf(format).json_schema, 'response_format.json_schema', new Set(['name', 'description', 'schema', 'strict'])),
    ...listUnread(search, 'web_search_options', new Set(['user_location', 'search_context_size'])),
    ...listUnread(location, 'web_search_options.user_location', new Set(['type', 'approximate'])),
  ];
}

const sizes = new Set<unknown>(['low', 'medium', 'high']);
const answerForms: Readonly<Record<string, true>> = { text: true, json_object: true, json_schema: true };
const formatMembers = new Set(['type', 'json_schema', 'schema']);

/** Refuses requests that no other vendor supports. */
export function refuseUntranslatable(body: JsonObject): void {
  if (typeof body.n === 'number' && body.n > 1) {
    const message =
      'n: the upstream of this model speaks another interface and writes one choice for a call; send the request once for each choice';
    throw new GatewayError('untranslatable_field', message, { param: 'n' });
  }
  const { modalities } = body;
  if (Array.isArray(modalities) && !isDefault('modalities', modalities)) {
    const message = 'modalities: the upstream of this model speaks another interface and answers in text only; ask for ["text"]';
    throw new GatewayError('untranslatable_field', message, { param: 'modalities' });
  }
}
