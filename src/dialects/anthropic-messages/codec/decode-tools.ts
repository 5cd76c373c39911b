import type { Tool, ToolChoice, UrlContextTool, WebSearchTool } from '../../../inference/inference-request.ts';
import { objectsOf, textOf, textsOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { readUserLocation } from '../../read-user-location.ts';
import { builtInToolOf } from '../built-in-tools.ts';
import { decodeClientTool } from './client-tools.ts';

/** Reads `tools` of a validated request. */
export function decodeTools(tools: JsonValue | undefined): readonly Tool[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: JsonValue, index) => (isJsonObject(tool) && !isToolSearch(tool) ? [decodeTool(tool, `tools.${index}`)] : []));
}

/**
 * The vendor's search among deferred tools. Elsewhere all tools are loaded from the start, so there is nothing to
 * search.
 */
export function isToolSearch({ type }: JsonObject): boolean {
  return typeof type === 'string' && type.startsWith('tool_search_tool_');
}

function decodeTool(tool: JsonObject, path: string): Tool {
  const { type, name, description, input_schema: parameters, strict } = tool;
  if (typeof type !== 'string' || type === 'custom') {
    return {
      kind: 'function',
      name: textOf(name) ?? '',
      ...(typeof description === 'string' ? { description } : {}),
      ...(isJsonObject(parameters) ? { parameters } : {}),
      ...(typeof strict === 'boolean' ? { strict } : {}),
      path,
    };
  }
  switch (builtInToolOf(type)) {
    case 'web-search':
      return decodeWebSearch(tool, path);
    case 'url-context':
      return decodeWebFetch(tool, path);
    case 'code-execution':
      return { kind: 'code-execution', ...wireOf(tool, 'code_execution_20250825'), path };
    case 'file-search':
    case 'image-generation':
    case undefined:
      return decodeClientTool(tool, type, path) ?? { kind: 'vendor', name: type, wire: tool, path };
  }
}

const builtInMembers = new Set(['type', 'name', 'max_uses', 'allowed_domains', 'blocked_domains', 'user_location']);

/** Keeps the tool's wire form if it contains more than the neutral form: a later date, a mark for the cache. */
function wireOf(tool: JsonObject, usualType: string): { readonly wire?: JsonObject } {
  const isUsual = tool.type === usualType && Object.keys(tool).every((member) => builtInMembers.has(member));
  return isUsual ? {} : { wire: tool };
}

function decodeWebFetch(tool: JsonObject, path: string): UrlContextTool {
  const allowedDomains = stringsOf(tool.allowed_domains);
  const blockedDomains = stringsOf(tool.blocked_domains);
  return {
    kind: 'url-context',
    ...(typeof tool.max_uses === 'number' ? { maxUses: tool.max_uses } : {}),
    ...(allowedDomains === undefined ? {} : { allowedDomains }),
    ...(blockedDomains === undefined ? {} : { blockedDomains }),
    ...wireOf(tool, 'web_fetch_20250910'),
    path,
  };
}

function stringsOf(value: JsonValue | undefined): readonly string[] | undefined {
  return Array.isArray(value) ? textsOf(value) : undefined;
}

function decodeWebSearch(tool: JsonObject, path: string): WebSearchTool {
  const allowedDomains = stringsOf(tool.allowed_domains);
  const blockedDomains = stringsOf(tool.blocked_domains);
  const userLocation = readUserLocation(tool.user_location);
  return {
    kind: 'web-search',
    ...(typeof tool.max_uses === 'number' ? { maxUses: tool.max_uses } : {}),
    ...(allowedDomains === undefined ? {} : { allowedDomains }),
    ...(blockedDomains === undefined ? {} : { blockedDomains }),
    ...(userLocation === undefined ? {} : { userLocation }),
    ...wireOf(tool, 'web_search_20250305'),
    path,
  };
}

/** Reads `tool_choice`, which also contains the switch for parallel calls. */
export function decodeToolChoice(
  choice: JsonValue | undefined,
  tools: JsonValue | undefined,
): {
  readonly toolChoice?: ToolChoice;
  readonly parallelToolCalls?: boolean;
} {
  if (!isJsonObject(choice)) return {};
  const toolChoice = decodeChoice(choice, tools);
  const disabled = choice.disable_parallel_tool_use;
  return {
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(typeof disabled === 'boolean' ? { parallelToolCalls: !disabled } : {}),
  };
}

function decodeChoice({ type, name }: JsonObject, tools: JsonValue | undefined): ToolChoice | undefined {
  switch (textOf(type) ?? '') {
    case 'auto':
      return { kind: 'auto' };
    case 'none':
      return { kind: 'none' };
    case 'any':
      return { kind: 'required' };
    case 'tool':
      return chooseTool(textOf(name) ?? '', tools);
    default:
      return undefined;
  }
}

/** Finds the tool of a name, which may be a built-in tool. */
function chooseTool(name: string, tools: JsonValue | undefined): ToolChoice {
  const named = objectsOf(tools).find((tool) => tool.name === name);
  const builtIn = builtInToolOf(textOf(named?.type) ?? '');
  return builtIn === undefined ? { kind: 'function', name } : { kind: 'built-in', tool: builtIn };
}
