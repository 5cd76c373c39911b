import type { BlockStart } from '../../../inference/inference-event.ts';
import type { ServerToolPart, ToolFinding } from '../../../inference/inference-request.ts';
import { meaningOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { writeImageResult } from './image-generation-tool.ts';

/** The source of ids. All code of a reply runs in one container. */
type ToolIds = { readonly newId: (prefix: string) => string; readonly containerId: () => string };

type ItemType = 'web_search_call' | 'file_search_call' | 'code_interpreter_call' | 'image_generation_call';

/**
 * Prefixes of ids of items that were created here. The vendor never stored them, so `removeForeignProofs` and the
 * request encoder must recognise them.
 */
const idPrefixes: Readonly<Record<ItemType, string>> = {
  web_search_call: 'ws_gw',
  file_search_call: 'fs_gw',
  code_interpreter_call: 'ci_gw',
  image_generation_call: 'ig_gw',
};

export const ownItemPrefixes: readonly string[] = Object.values(idPrefixes);

/** Whether an item is a tool run that no vendor of this dialect made. */
export function isOwnToolItem({ type, id }: JsonObject): boolean {
  const prefix = meaningOf(type, idPrefixes);
  return prefix !== undefined && typeof id === 'string' && id.startsWith(prefix);
}

/** Item types for tool runs of a service. */
const itemTypes = /^(?:web_search|file_search|code_interpreter|image_generation|mcp)_call$|^mcp_list_tools$/;

/** The items of a tool run as a vendor of this dialect wrote them. Undefined for those of other dialects. */
export function nativeItems({ wire }: ServerToolPart): readonly JsonObject[] | undefined {
  return wire.length > 0 && wire.every(({ type }) => itemTypes.test(textOf(type) ?? '')) ? wire : undefined;
}

const typeOf = (tool: ServerToolPart['tool']): ItemType | undefined => {
  if (tool === 'web-search' || tool === 'url-context') return 'web_search_call';
  if (tool === 'file-search') return 'file_search_call';
  if (tool === 'image-generation') return 'image_generation_call';
  return tool === 'code-execution' ? 'code_interpreter_call' : undefined;
};

const pageOf = ({ url, title, text, date }: ToolFinding): JsonObject => ({
  ...(url === undefined ? {} : { url }),
  ...(title === undefined ? {} : { title }),
  ...(text === undefined ? {} : { text }),
  ...(date === undefined ? {} : { date }),
});

function writeWebSearch({ input, results = [] }: ServerToolPart): JsonObject {
  const [query = ''] = input;
  const sources = results.flatMap(({ url }) => (url === undefined ? [] : [{ type: 'url', url }]));
  return { action: { type: 'search', query, queries: input, sources }, results: results.map(pageOf) };
}

function writeFileSearch({ input, results = [] }: ServerToolPart): JsonObject {
  const findings = results.map(({ fileId, title, score, text, attributes, storeId }) => ({
    file_id: fileId ?? '',
    filename: title ?? '',
    score: score ?? 0,
    text: text ?? '',
    attributes: attributes ?? {},
    ...(storeId === undefined ? {} : { vector_store_id: storeId }),
  }));
  return { queries: input, results: findings };
}

function writeCodeRun({ input, results = [] }: ServerToolPart, containerId: string): JsonObject {
  const outputs = results.flatMap(({ text, url }): readonly JsonObject[] => [
    ...(text === undefined ? [] : [{ type: 'logs', logs: text }]),
    ...(url === undefined ? [] : [{ type: 'image', url }]),
  ]);
  return { code: input.join('\n'), container_id: containerId, outputs };
}

/** A running tool whose item has been opened. */
export type OpenServerTool = {
  readonly id: string;
  readonly type: ItemType;
  readonly containerId: string | undefined;
  readonly start: Extract<BlockStart, { kind: 'server-tool' }>;
  /** The code so far. */
  code: string;
  /** Whether the code is complete, so that it runs. */
  runs: boolean;
};

export function openServerTool(start: OpenServerTool['start'], { newId, containerId }: ToolIds): OpenServerTool | undefined {
  const type = typeOf(start.tool);
  if (type === undefined) return undefined;
  const id = newId(idPrefixes[type]);
  return { id, type, containerId: type === 'code_interpreter_call' ? containerId() : undefined, start, code: '', runs: false };
}

/** The opening form of a tool's item: its result is not in it yet. */
export function writeOpenTool({ id, type, containerId, start }: OpenServerTool): JsonObject {
  const head = { id, type, status: 'in_progress' };
  if (type === 'code_interpreter_call') return { ...head, code: '', container_id: containerId, outputs: null };
  if (type === 'image_generation_call') return { ...head, result: null };
  return type === 'file_search_call' ? { ...head, queries: start.input, results: null } : head;
}

/** An event of an item: its name and its members as JSON text. */
type Step = readonly [name: string, members: string];

export function writeCode(tool: OpenServerTool, text: string): readonly Step[] {
  if (tool.type !== 'code_interpreter_call' || tool.runs || text === '') return [];
  tool.code += text;
  return [[`${tool.type}_code.delta`, `,"delta":${JSON.stringify(text)}`]];
}

function runCode(tool: OpenServerTool): readonly Step[] {
  if (tool.runs) return [];
  tool.runs = true;
  return [
    [`${tool.type}_code.done`, `,"code":${JSON.stringify(tool.code)}`],
    [`${tool.type}.interpreting`, ''],
  ];
}

/** The events at the start of a tool. Code that is known from the start runs at once. */
export function startSteps(tool: OpenServerTool): readonly Step[] {
  const opened: Step = [`${tool.type}.in_progress`, ''];
  if (tool.type === 'image_generation_call') return [opened, [`${tool.type}.generating`, '']];
  if (tool.type !== 'code_interpreter_call') return [opened, [`${tool.type}.searching`, '']];
  const code = tool.start.input.join('\n');
  return code === '' ? [opened] : [opened, ...writeCode(tool, code), ...runCode(tool)];
}

/** The events at the end of a tool, and its finished item. */
export function endTool(
  tool: OpenServerTool,
  outcome: ServerToolPart | undefined,
): { readonly steps: readonly Step[]; readonly item: JsonObject } {
  const part = outcome ?? interrupt(tool);
  const code = part.input.join('\n');
  const isCode = tool.type === 'code_interpreter_call';
  const steps: Step[] = [];
  if (isCode) {
    if (!tool.runs && code.startsWith(tool.code)) steps.push(...writeCode(tool, code.slice(tool.code.length)));
    steps.push(...runCode(tool));
  }
  const failed = part.failed === true;
  if (!failed) steps.push([`${tool.type}.completed`, '']);
  const hasIncomplete = tool.type === 'file_search_call' || isCode;
  const status = !failed ? 'completed' : outcome === undefined && hasIncomplete ? 'incomplete' : 'failed';
  return { steps, item: writeToolItem(tool, part, status) };
}

/** The outcome of an interrupted tool. */
function interrupt({ start, code }: OpenServerTool): ServerToolPart {
  return { kind: 'server-tool', tool: start.tool, id: start.id, input: code === '' ? start.input : [code], failed: true, wire: [] };
}

function writeToolItem({ id, type, containerId = '' }: OpenServerTool, part: ServerToolPart, status: string): JsonObject {
  const head = { id, type, status };
  if (type === 'file_search_call') return { ...head, ...writeFileSearch(part) };
  if (type === 'image_generation_call') return { ...head, ...writeImageResult(part.results ?? []) };
  if (type === 'code_interpreter_call') return { ...head, ...writeCodeRun(part, containerId) };
  if (part.tool !== 'url-context') return { ...head, ...writeWebSearch(part) };
  const [url = ''] = part.input;
  return { ...head, action: { type: 'open_page', url }, results: (part.results ?? []).map(pageOf) };
}

/** Splits a reading of several pages, because this dialect has an item for every page. */
export function splitPages(part: ServerToolPart): readonly ServerToolPart[] {
  if (part.tool !== 'url-context' || part.input.length < 2) return [part];
  return part.input.map((url) => {
    const results = (part.results ?? []).filter((finding) => finding.url === url);
    const failed = part.failed === true || results.some(({ unreadable }) => unreadable === true);
    const { failed: _failed, ...rest } = part;
    return { ...rest, input: [url], results, ...(failed ? { failed } : {}) };
  });
}
