import type { FunctionTool, Tool, ToolChoice, WebSearchTool } from '../../../inference/inference-request.ts';
import { filledText, membersOf, objectsOf, textOf, wordOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import { readUserLocation } from '../../read-user-location.ts';
import { member } from './member.ts';

function decodeFunction(definition: JsonObject, path: string): FunctionTool {
  const description = filledText(definition.description);
  return {
    kind: 'function',
    name: textOf(definition.name) ?? '',
    ...(description === undefined ? {} : { description }),
    ...(isJsonObject(definition.parameters) && { parameters: definition.parameters }),
    ...(typeof definition.strict === 'boolean' && { strict: definition.strict }),
    path,
  };
}

function decodeTool(tool: JsonObject, path: string): Tool {
  if (isJsonObject(tool.function)) return decodeFunction(tool.function, path);
  return { kind: 'vendor', name: textOf(tool.type) ?? 'tool', wire: tool, path };
}

function decodeWebSearch(options: JsonObject): WebSearchTool {
  const userLocation = readUserLocation(membersOf(options.user_location).approximate);
  const contextSize = wordOf(options.search_context_size, ['low', 'medium', 'high']);
  return {
    kind: 'web-search',
    ...(userLocation === undefined ? {} : { userLocation }),
    ...(contextSize === undefined ? {} : { contextSize }),
    path: 'web_search_options',
  };
}

/** Reads the tools, the older `functions`, and the web search, which has a field of its own in this dialect. */
export function decodeTools(body: JsonObject): readonly Tool[] {
  return [
    ...objectsOf(body.tools).map((tool, at) => decodeTool(tool, `tools[${at}]`)),
    ...objectsOf(body.functions).map((definition, at) => decodeFunction(definition, `functions[${at}]`)),
    ...(isJsonObject(body.web_search_options) ? [decodeWebSearch(body.web_search_options)] : []),
  ];
}

function decodeAllowed(allowed: JsonObject): ToolChoice {
  const names = objectsOf(allowed.tools).flatMap((tool) => filledText(membersOf(tool.function).name) ?? filledText(tool.name) ?? []);
  return { kind: 'allowed', names, required: allowed.mode === 'required' };
}

/** Reads which tools may or must be called, from the newer or the older field. */
export function decodeToolChoice(body: JsonObject): ToolChoice | undefined {
  const choice = body.tool_choice ?? body.function_call;
  const kind = wordOf(choice, ['auto', 'required', 'none']);
  if (kind === 'required') return { kind, ...(isJsonObject(body.web_search_options) && { ofFunctions: true }) };
  if (kind !== undefined) return { kind };
  if (!isJsonObject(choice)) return undefined;
  if (isJsonObject(choice.allowed_tools)) return decodeAllowed(choice.allowed_tools);
  const name = filledText(membersOf(choice.function).name) ?? filledText(membersOf(choice.custom).name) ?? filledText(choice.name);
  return name === undefined ? undefined : { kind: 'function', name };
}

/** Whether the client uses the older function fields, so that the reply must use them too. */
export const isLegacyRequest = (body: JsonObject): boolean => Array.isArray(body.functions) && !Array.isArray(body.tools);

/** The form of a choice that names a function. */
export const functionChoice = (name: string): JsonObject => ({ type: 'function', ...member('function', { name }) });
