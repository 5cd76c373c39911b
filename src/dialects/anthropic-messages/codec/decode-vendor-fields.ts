import { GatewayError } from '../../../inference/gateway-error.ts';
import type { VendorField } from '../../../inference/inference-request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { isToolSearch } from './decode-tools.ts';

/** Fields that have a neutral name, or are read together with one. */
const namedFields = new Set([
  'model',
  'max_tokens',
  'messages',
  'system',
  'metadata',
  'stop_sequences',
  'stream',
  'temperature',
  'top_k',
  'top_p',
  'thinking',
  'tool_choice',
  'tools',
  'output_config',
  'output_format',
  'service_tier',
]);

/** Fields that steer caching, accounting or the vendor's own guards, and not what the model answers. */
const harmlessFields = new Set([
  'cache_control',
  'betas',
  'billing_policy',
  'diagnostics',
  'fallback_credit_token',
  'safeguards',
  'speed',
  'user_profile_id',
  'workspace_id',
]);

/** Members of a tool that say how the vendor loads or streams it. */
const harmlessToolMembers = new Set(['cache_control', 'defer_loading', 'eager_input_streaming', 'type']);
const namedToolMembers = new Set(['name', 'description', 'input_schema', 'strict']);

const isSet = (value: JsonValue | undefined): value is JsonValue => value !== undefined && value !== null && value !== false;

/**
 * What a request says that has no neutral name. Throws for what lives at the vendor: a conversation (`thread`), a container, servers of
 * tools that the vendor would call.
 */
export function decodeVendorFields(body: JsonObject): readonly VendorField[] {
  refuseVendorState(body);
  const fields = Object.entries(body).flatMap(([field, value]): readonly VendorField[] =>
    namedFields.has(field) || !isSet(value) || isEmpty(value) ? [] : [{ field, value, weight: weighField(field, value) }],
  );
  return [...fields, ...decodeInnerFields(body)];
}

function refuseVendorState({ thread, container, mcp_servers: servers }: JsonObject): void {
  if (isSet(thread)) {
    throw new GatewayError('thread_unsupported', 'thread: this model is not served by a vendor that keeps threads; send all messages', {
      param: 'thread',
    });
  }
  if (isSet(container)) refuse('container', 'containers exist only at their own vendor; leave it out, or choose a model of that vendor');
  if (isSet(servers) && !isEmpty(servers)) {
    refuse(
      'mcp_servers',
      'only the interface’s own vendor calls these servers; offer their tools in tools, or choose a model of that vendor',
    );
  }
}

function refuse(param: string, reason: string): never {
  throw new GatewayError('untranslatable_field', `${param}: ${reason}`, { param });
}

const isEmpty = (value: JsonValue): boolean => Array.isArray(value) && value.length === 0;

function weighField(field: string, value: JsonValue): VendorField['weight'] {
  if (field === 'context_management') return onlyClears(value) ? 'harmless' : 'matters';
  return harmlessFields.has(field) ? 'harmless' : 'matters';
}

/**
 * Clearing old tool results and thoughts saves input; compaction rewrites the conversation. Coding agents send the former with every call.
 */
function onlyClears(value: JsonValue): boolean {
  const edits = isJsonObject(value) && Array.isArray(value.edits) ? value.edits : [];
  return edits.every((edit: JsonValue) => isJsonObject(edit) && typeof edit.type === 'string' && edit.type.startsWith('clear_'));
}

function decodeInnerFields(body: JsonObject): readonly VendorField[] {
  const { thinking, output_config: output, tools, messages, system } = body;
  const fields: VendorField[] = [];
  if (isJsonObject(thinking) && thinking.type === 'between_tools') {
    fields.push({ field: 'thinking.type', value: 'between_tools', weight: 'matters' });
  }
  if (isJsonObject(output) && isSet(output.task_budget)) {
    fields.push({ field: 'output_config.task_budget', value: output.task_budget, weight: 'matters' });
  }
  if (Array.isArray(tools)) tools.forEach((tool: JsonValue, index) => fields.push(...decodeToolFields(tool, index)));
  if (Array.isArray(messages)) messages.forEach((message: JsonValue, index) => fields.push(...findBlockMembers(message, index)));
  if (Array.isArray(system)) system.forEach((block: JsonValue, index) => fields.push(...findCacheMark(block, `system.${index}`)));
  return fields;
}

function decodeToolFields(tool: JsonValue, index: number): readonly VendorField[] {
  if (!isJsonObject(tool)) return [];
  if (isToolSearch(tool)) return [{ field: `tools.${index}`, value: tool, weight: 'matters' }];
  // The other tools of the vendor's making are refused or mapped as a whole.
  if (!(tool.type === undefined || tool.type === null || tool.type === 'custom')) return [];
  return Object.entries(tool).flatMap(([member, value]): readonly VendorField[] =>
    namedToolMembers.has(member) || !isSet(value) || isEmpty(value)
      ? []
      : [{ field: `tools.${index}.${member}`, value, weight: harmlessToolMembers.has(member) ? 'harmless' : 'matters' }],
  );
}

/** Where the vendor's cache shall end: it costs less there, and means nothing elsewhere. */
function findCacheMark(block: JsonValue, path: string): readonly VendorField[] {
  const mark = isJsonObject(block) ? block.cache_control : undefined;
  return isSet(mark) ? [{ field: `${path}.cache_control`, value: mark, weight: 'harmless' }] : [];
}

/** Documents whose citations are switched on: elsewhere the model is not made to cite them. */
function findCitationRequest(block: JsonValue, path: string): readonly VendorField[] {
  const citations = isJsonObject(block) && (block.type === 'document' || block.type === 'search_result') ? block.citations : undefined;
  if (!isJsonObject(citations) || citations.enabled !== true) return [];
  return [{ field: `${path}.citations`, value: citations, weight: 'matters' }];
}

function findBlockMembers(message: JsonValue, index: number): readonly VendorField[] {
  if (!isJsonObject(message) || !Array.isArray(message.content)) return [];
  return message.content.flatMap((block: JsonValue, at) => {
    const path = `messages.${index}.content.${at}`;
    return [...findCacheMark(block, path), ...findCitationRequest(block, path)];
  });
}
