import type { Tool, ToolChoice, WebSearchTool } from '../../../inference/inference-request.ts';
import { textOf, textsOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { readUserLocation } from '../../read-user-location.ts';

/** Reads `tools` of a validated request. */
export function decodeTools(tools: JsonValue | undefined): readonly Tool[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: JsonValue, index) => (isJsonObject(tool) && !isToolSearch(tool) ? [decodeTool(tool, `tools.${index}`)] : []));
}

/**
 * The vendor's search among tools that are loaded later. Elsewhere all tools are there from the start, and nothing is left to be searched.
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
  if (type.startsWith('web_search_')) return decodeWebSearch(tool, path);
  if (type.startsWith('code_execution_')) return { kind: 'code-execution', path };
  return { kind: 'vendor', name: type, wire: tool, path };
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
    path,
  };
}

/** Reads `tool_choice`, which holds the switch for parallel calls as well. */
export function decodeToolChoice(choice: JsonValue | undefined): {
  readonly toolChoice?: ToolChoice;
  readonly parallelToolCalls?: boolean;
} {
  if (!isJsonObject(choice)) return {};
  const toolChoice = decodeChoice(choice);
  const disabled = choice.disable_parallel_tool_use;
  return {
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(typeof disabled === 'boolean' ? { parallelToolCalls: !disabled } : {}),
  };
}

function decodeChoice({ type, name }: JsonObject): ToolChoice | undefined {
  switch (textOf(type) ?? '') {
    case 'auto':
      return { kind: 'auto' };
    case 'none':
      return { kind: 'none' };
    case 'any':
      return { kind: 'required' };
    case 'tool':
      return { kind: 'function', name: textOf(name) ?? '' };
    default:
      return undefined;
  }
}
