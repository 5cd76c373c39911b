import { GatewayError } from '../../../inference/gateway-error.ts';
import type { FunctionTool, Tool, ToolChoice, VendorField, WebSearchTool } from '../../../inference/inference-request.ts';
import { filledText, meaningOf, membersOf, objectsOf, textOf, textsOf, wordOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { screenToolName } from '../../../inference/screen-actions.ts';
import { listUnread } from '../../list-unread.ts';
import { readUserLocation } from '../../read-user-location.ts';
import { builtInToolOf } from '../built-in-tools.ts';
import { customToolParameters, joinNamespace } from './client-tools.ts';
import { decodeFileSearch } from './file-search-tool.ts';
import { decodeImageGeneration, imageToolMembers } from './image-generation-tool.ts';
import { decodeScreenTool, isScreenType } from './screen-tool.ts';

type DecodedTools = { readonly tools: readonly Tool[]; readonly fields: readonly VendorField[] };

/**
 * The members that are read of each kind of tool. Other kinds, which only the vendor has, are refused or kept whole.
 */
const toolMembers: Readonly<Record<string, ReadonlySet<string>>> = {
  function: new Set(['type', 'name', 'description', 'parameters', 'strict']),
  custom: new Set(['type', 'name', 'description', 'format']),
  web_search: new Set(['type', 'filters', 'domains', 'user_location', 'search_context_size', 'external_web_access']),
  code_interpreter: new Set(['type', 'container']),
  file_search: new Set(['type', 'vector_store_ids', 'filters', 'max_num_results', 'ranking_options']),
  image_generation: new Set(imageToolMembers),
  computer: new Set(['type', 'display_width', 'display_height', 'environment']),
};

/** Members that only affect how the vendor loads a tool. */
const toolHints = new Set(['defer_loading']);

const membersReadOf = (type: string): ReadonlySet<string> | undefined => {
  if (type.startsWith('web_search')) return toolMembers.web_search;
  return isScreenType(type) ? toolMembers.computer : meaningOf(type, toolMembers);
};

/** Members of a tool, and of the objects in it, that are not read. */
function readToolFields(tool: JsonObject, path: string): readonly VendorField[] {
  const read = membersReadOf(textOf(tool.type) ?? '');
  if (read === undefined) return [];
  const inner: readonly (readonly [name: string, read: readonly string[]])[] = [
    ['container', ['type', 'file_ids']],
    ['input_image_mask', ['image_url']],
    ['ranking_options', ['ranker', 'score_threshold']],
    ['user_location', ['type', 'city', 'country', 'region', 'timezone']],
    ...(tool.type === 'file_search' ? [] : [['filters', ['allowed_domains', 'blocked_domains']] as const]),
  ];
  return [
    ...listUnread(tool, path, read, toolHints),
    ...inner.flatMap(([name, allowed]) => (read.has(name) ? listUnread(tool[name], `${path}.${name}`, new Set(allowed)) : [])),
  ];
}

type ToolPosition = { readonly path: string; readonly namespace?: string; readonly introduction?: string };

const paragraphs = (...texts: readonly (string | undefined)[]): string | undefined => {
  const filled = texts.filter((text) => text !== undefined && text !== '');
  return filled.length === 0 ? undefined : filled.join('\n\n');
};

function decodeFunction(tool: JsonObject, { path, namespace, introduction }: ToolPosition): FunctionTool {
  const description = paragraphs(introduction, textOf(tool.description));
  return {
    kind: 'function',
    name: joinNamespace(namespace, textOf(tool.name) ?? ''),
    path,
    ...(description === undefined ? {} : { description }),
    ...(isJsonObject(tool.parameters) ? { parameters: tool.parameters } : {}),
    // An absent `strict` means "strict if the schema permits", which no other dialect has. Only an explicit value is
    // kept.
    ...(typeof tool.strict === 'boolean' ? { strict: tool.strict } : {}),
  };
}

/**
 * A tool with free text input becomes a function with one argument. The grammar of the text becomes part of its
 * description.
 */
function decodeCustom(tool: JsonObject, position: ToolPosition): { readonly tool: FunctionTool; readonly fields: readonly VendorField[] } {
  const format = membersOf(tool.format);
  const grammar = format.type === 'grammar' ? textOf(format.definition) : undefined;
  const rule = grammar === undefined ? undefined : `The input must follow this grammar (${textOf(format.syntax) ?? 'lark'}):\n${grammar}`;
  const description = paragraphs(position.introduction, textOf(tool.description), rule);
  const name = joinNamespace(position.namespace, textOf(tool.name) ?? '');
  return {
    tool: {
      kind: 'function',
      name,
      path: position.path,
      parameters: customToolParameters,
      // A tool of a namespace is part of the namespace's definition, which is not repeated for each tool.
      ...(position.namespace === undefined ? { wire: tool } : {}),
      ...(description === undefined ? {} : { description }),
    },
    fields:
      format.type === undefined || format.type === 'text' ? [] : [{ field: `${position.path}.format`, value: format, weight: 'matters' }],
  };
}

/** Members of the search tool that have a neutral name. The vendor does not accept `domains`. */
const searchMembers = new Set(['type', 'filters', 'domains', 'user_location', 'search_context_size']);

const searchFilters = new Set(['allowed_domains', 'blocked_domains']);

const isPlainSearch = (tool: JsonObject): boolean =>
  Object.keys(tool).every((member) => searchMembers.has(member)) &&
  Object.keys(membersOf(tool.filters)).every((member) => searchFilters.has(member));

function decodeWebSearch(tool: JsonObject, path: string): { readonly tool: WebSearchTool; readonly fields: readonly VendorField[] } {
  const filters = membersOf(tool.filters);
  const allowedDomains = [...textsOf(filters.allowed_domains), ...textsOf(tool.domains)];
  const blockedDomains = textsOf(filters.blocked_domains);
  const userLocation = readUserLocation(tool.user_location);
  const contextSize = wordOf(tool.search_context_size, ['low', 'medium', 'high']);
  return {
    tool: {
      kind: 'web-search',
      path,
      ...(allowedDomains.length === 0 ? {} : { allowedDomains }),
      ...(blockedDomains.length === 0 ? {} : { blockedDomains }),
      ...(userLocation === undefined ? {} : { userLocation }),
      ...(contextSize === undefined ? {} : { contextSize }),
      ...(isPlainSearch(tool) ? {} : { wire: tool }),
    },
    // Searches the vendor's index instead of the live web.
    fields: tool.external_web_access === false ? [{ field: `${path}.external_web_access`, value: false, weight: 'matters' }] : [],
  };
}

/** A sandbox that the vendor stores does not exist elsewhere; a fresh one does. */
function requireFreshContainer(tool: JsonObject, path: string): void {
  const container = tool.container;
  const isKept = typeof container === 'string' || (isJsonObject(container) && textsOf(container.file_ids).length > 0);
  if (!isKept) return;
  const param = `${path}.container`;
  const advice = 'containers and files are stored at one vendor, and this model runs at another; send {"type":"auto"} without files';
  throw new GatewayError('untranslatable_field', `${param}: ${advice}.`, { param });
}

/** Reads the tools. Tools that the client runs become functions; tools of the vendor keep their wire form. */
export function decodeTools(value: JsonValue | undefined): DecodedTools {
  const tools: Tool[] = [];
  const fields: VendorField[] = [];
  const add = (tool: JsonObject, position: ToolPosition): void => {
    const type = textOf(tool.type) ?? '';
    fields.push(...readToolFields(tool, position.path));
    if (type === 'function') tools.push(decodeFunction(tool, position));
    else if (type === 'custom' || type.startsWith('web_search')) {
      const read = type === 'custom' ? decodeCustom(tool, position) : decodeWebSearch(tool, position.path);
      tools.push(read.tool);
      fields.push(...read.fields);
    } else if (type === 'code_interpreter') {
      requireFreshContainer(tool, position.path);
      const isPlain = Object.keys(membersOf(tool.container)).every((member) => member === 'type');
      tools.push({ kind: 'code-execution', path: position.path, ...(isPlain ? {} : { wire: tool }) });
    } else if (type === 'file_search') tools.push(decodeFileSearch(tool, position.path));
    else if (type === 'image_generation') tools.push(decodeImageGeneration(tool, position.path));
    else if (isScreenType(type)) tools.push(decodeScreenTool(tool, position.path));
    else tools.push({ kind: 'vendor', name: type, wire: tool, path: position.path });
  };
  for (const [index, tool] of objectsOf(value).entries()) {
    const path = `tools[${index}]`;
    if (tool.type !== 'namespace') {
      add(tool, { path });
      continue;
    }
    const namespace = textOf(tool.name) ?? '';
    const introduction = filledText(tool.description);
    for (const [at, nested] of objectsOf(tool.tools).entries()) {
      add(nested, { path: `${path}.tools[${at}]`, namespace, ...(introduction === undefined ? {} : { introduction }) });
    }
  }
  return { tools, fields };
}

function isNamedTool(choice: JsonObject): boolean {
  return choice.type === 'function' || choice.type === 'custom';
}

const carriedName = (choice: JsonObject): string => joinNamespace(textOf(choice.namespace), textOf(choice.name) ?? '');

/** Reads `tool_choice`. The choice of a tool that only the vendor has has no neutral form. */
export function decodeToolChoice(value: JsonValue | undefined): { readonly choice?: ToolChoice; readonly fields: readonly VendorField[] } {
  if (value === 'auto' || value === 'required' || value === 'none') return { choice: { kind: value }, fields: [] };
  if (!isJsonObject(value)) return { fields: [] };
  if (isNamedTool(value)) return { choice: { kind: 'function', name: carriedName(value) }, fields: [] };
  const builtIn = builtInToolOf(textOf(value.type) ?? '');
  if (builtIn !== undefined) return { choice: { kind: 'built-in', tool: builtIn }, fields: [] };
  if (isScreenType(textOf(value.type) ?? '')) return { choice: { kind: 'function', name: screenToolName }, fields: [] };
  if (value.type !== 'allowed_tools') return { fields: [{ field: 'tool_choice', value, weight: 'matters' }] };
  const allowed = objectsOf(value.tools);
  const choice: ToolChoice = {
    kind: 'allowed',
    names: allowed.filter(isNamedTool).map(carriedName),
    required: value.mode === 'required',
  };
  const others = allowed.flatMap((tool, at): readonly VendorField[] =>
    isNamedTool(tool) ? [] : [{ field: `tool_choice.tools[${at}]`, value: tool, weight: 'matters' }],
  );
  return { choice, fields: others };
}
