import { GatewayError } from '../../../inference/gateway-error.ts';
import type { VendorField } from '../../../inference/inference-request.ts';
import { meaningOf, membersOf, objectsOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { isSaid, listUnread } from '../../list-unread.ts';
import { builtInToolOf } from '../built-in-tools.ts';
import { decodeCitations } from './citations.ts';
import { decodeClientTool } from './client-tools.ts';
import { isToolSearch } from './decode-tools.ts';

/** Fields that have a neutral name, or are read together with such a field. */
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

/** Fields that affect caching, speed, accounting or the vendor's own guards, but not the answer. */
const hintFields = new Set([
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

/** Members of a tool that control how the vendor loads, streams or caches it. */
const toolHints = new Set(['cache_control', 'defer_loading', 'eager_input_streaming']);
const functionMembers = new Set(['type', 'name', 'description', 'input_schema', 'strict']);
/** Members of the vendor's tools that their neutral form contains. Writers of other dialects note what is lost. */
const builtInMembers = new Set(['type', 'name', 'max_uses', 'allowed_domains', 'blocked_domains', 'user_location']);
const clientToolMembers = new Set(['type', 'name', 'display_width_px', 'display_height_px']);

const blockHints = new Set(['cache_control', 'caller']);
const sourceMembers = new Set(['type', 'media_type', 'data', 'url', 'file_id', 'content']);
/** The members that are read of each block. Blocks of other types are carried or left out as a whole. */
const blockMembers: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(['type', 'text']),
  image: new Set(['type', 'source']),
  document: new Set(['type', 'source', 'title', 'context', 'citations']),
  search_result: new Set(['type', 'source', 'title', 'content', 'citations']),
  tool_use: new Set(['type', 'id', 'name', 'input']),
  tool_result: new Set(['type', 'tool_use_id', 'content', 'is_error']),
  thinking: new Set(['type', 'thinking', 'signature']),
  redacted_thinking: new Set(['type', 'data']),
};

/** Objects at the top, and the members that are read of them. */
const innerMembers: readonly (readonly [field: string, read: ReadonlySet<string>])[] = [
  ['metadata', new Set(['user_id'])],
  ['tool_choice', new Set(['type', 'name', 'disable_parallel_tool_use'])],
  ['thinking', new Set(['type', 'budget_tokens', 'display'])],
  ['output_config', new Set(['effort', 'format'])],
];
const displays = new Set<unknown>(['summarized', 'omitted']);
const efforts = new Set<unknown>(['low', 'medium', 'high', 'xhigh', 'max']);
const tiers = new Set<unknown>(['auto', 'standard_only']);

/**
 * Collects fields that have no neutral name. Throws for objects that exist only at the vendor: a conversation
 * (`thread`), a container, servers of tools that the vendor would call.
 */
export function decodeVendorFields(body: JsonObject): readonly VendorField[] {
  refuseVendorState(body);
  const fields = listUnread(body, '', namedFields, hintFields).map((field) =>
    onlyClears(field) ? { ...field, weight: 'hint' as const } : field,
  );
  return [...fields, ...decodeInnerFields(body)];
}

function refuseVendorState({ thread, container, mcp_servers: servers }: JsonObject): void {
  if (isSaid(thread)) {
    throw new GatewayError('thread_unsupported', 'thread: this model is not served by a vendor that keeps threads; send all messages', {
      param: 'thread',
    });
  }
  if (isSaid(container)) refuse('container', 'containers exist only at their own vendor; leave it out, or choose a model of that vendor');
  if (isSaid(servers)) {
    refuse(
      'mcp_servers',
      'only the interface’s own vendor calls these servers; offer their tools in tools, or choose a model of that vendor',
    );
  }
}

function refuse(param: string, reason: string): never {
  throw new GatewayError('untranslatable_field', `${param}: ${reason}`, { param });
}

/**
 * Clearing old tool results and thoughts only saves input, and coding agents request it with every call. Compaction
 * rewrites the conversation.
 */
function onlyClears({ field, value }: VendorField): boolean {
  if (field !== 'context_management') return false;
  return objectsOf(membersOf(value).edits).every(({ type }) => typeof type === 'string' && type.startsWith('clear_'));
}

const isOther = (value: JsonValue | undefined, known: ReadonlySet<unknown>): value is JsonValue => isSaid(value) && !known.has(value);

function decodeInnerFields(body: JsonObject): readonly VendorField[] {
  const { thinking, output_config: output, service_tier: tier, tools, messages, system } = body;
  const fields: VendorField[] = innerMembers.flatMap(([field, read]) => listUnread(body[field], field, read));
  const { effort, format } = membersOf(output);
  if (isOther(tier, tiers)) fields.push({ field: 'service_tier', value: tier, weight: 'matters' });
  if (isOther(effort, efforts)) fields.push({ field: 'output_config.effort', value: effort, weight: 'matters' });
  fields.push(...decodeFormatFields(format, 'output_config.format'), ...decodeFormatFields(body.output_format, 'output_format'));
  const { display } = membersOf(thinking);
  if (isOther(display, displays)) fields.push({ field: 'thinking.display', value: display, weight: 'matters' });
  if (isJsonObject(thinking) && thinking.type === 'between_tools') {
    fields.push({ field: 'thinking.type', value: 'between_tools', weight: 'matters' });
  }
  if (Array.isArray(tools)) tools.forEach((tool: JsonValue, index) => fields.push(...decodeToolFields(tool, `tools.${index}`)));
  if (Array.isArray(messages))
    messages.forEach((message: JsonValue, index) => fields.push(...decodeMessageFields(message, `messages.${index}`)));
  if (Array.isArray(system)) fields.push(...decodeBlocksFields(system, 'system'));
  return fields;
}

/** A format without a schema is not known here. */
function decodeFormatFields(format: JsonValue | undefined, path: string): readonly VendorField[] {
  if (!isJsonObject(format)) return [];
  if (!isJsonObject(format.schema)) return [{ field: path, value: format, weight: 'matters' }];
  return listUnread(format, path, new Set(['type', 'schema']));
}

function decodeToolFields(tool: JsonValue, path: string): readonly VendorField[] {
  if (!isJsonObject(tool)) return [];
  const { type } = tool;
  if (isToolSearch(tool)) return [{ field: path, value: tool, weight: 'matters' }];
  if (typeof type !== 'string' || type === 'custom') return listUnread(tool, path, functionMembers, toolHints);
  if (builtInToolOf(type) !== undefined) return listUnread(tool, path, builtInMembers, toolHints);
  // Other tools that only the vendor has are refused as a whole.
  return decodeClientTool(tool, type, path) === undefined ? [] : listUnread(tool, path, clientToolMembers, toolHints);
}

function decodeMessageFields(message: JsonValue, path: string): readonly VendorField[] {
  if (!isJsonObject(message)) return [];
  return [
    ...listUnread(message, path, new Set(['role', 'content'])),
    ...decodeBlocksFields(message.content, `${path}.content`).filter(({ field, value }) => !isReadCitations(field, value, path)),
  ];
}

/** Citations of earlier replies, all of which are read. No other citations are. */
function isReadCitations(field: string, value: JsonValue, path: string): boolean {
  if (!/^\.content\.\d+\.citations$/.test(field.slice(path.length))) return false;
  return Array.isArray(value) && decodeCitations(value).length === value.length;
}

function decodeBlocksFields(blocks: JsonValue | undefined, path: string): readonly VendorField[] {
  if (!Array.isArray(blocks)) return [];
  return blocks.flatMap((block: JsonValue, at) => (isJsonObject(block) ? decodeBlockFields(block, `${path}.${at}`) : []));
}

function decodeBlockFields(block: JsonObject, path: string): readonly VendorField[] {
  const { type, source, content, citations } = block;
  const read = meaningOf(type, blockMembers);
  if (read === undefined) return [];
  const fields = [...listUnread(block, path, read, blockHints)];
  // Documents with citations switched on: models of other vendors need not cite them.
  if (type !== 'text' && isSaid(citations) && membersOf(citations).enabled !== false) {
    fields.push({ field: `${path}.citations`, value: citations, weight: 'matters' });
  }
  if (isJsonObject(source)) {
    fields.push(...listUnread(source, `${path}.source`, sourceMembers), ...decodeBlocksFields(source.content, `${path}.source.content`));
  }
  return [...fields, ...decodeBlocksFields(content, `${path}.content`)];
}
