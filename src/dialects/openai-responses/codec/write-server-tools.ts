import type { BlockStart } from '../../../inference/inference-event.ts';
import type { ServerToolPart, ToolFinding } from '../../../inference/inference-request.ts';
import { meaningOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** Where the ids of items come from. All code of a reply runs in one container. */
type ToolIds = { readonly newId: (prefix: string) => string; readonly containerId: () => string };

type ItemType = 'web_search_call' | 'file_search_call' | 'code_interpreter_call';

/**
 * How the ids of items begin that were made here. The vendor never stored them, so `removeForeignProofs` and the encoder of requests must
 * know them.
 */
const idPrefixes: Readonly<Record<ItemType, string>> = {
  web_search_call: 'ws_gw',
  file_search_call: 'fs_gw',
  code_interpreter_call: 'ci_gw',
};

/** Whether an item is of a tool that no vendor of this dialect ran. */
export function isOwnToolItem({ type, id }: JsonObject): boolean {
  const prefix = meaningOf(type, idPrefixes);
  return prefix !== undefined && typeof id === 'string' && id.startsWith(prefix);
}

/** Items in which this dialect says what tools of a service did. */
const itemTypes = /^(?:web_search|file_search|code_interpreter|image_generation|mcp)_call$|^mcp_list_tools$/;

/** The items of a tool as a vendor of this dialect wrote them; undefined for those of other dialects. */
export function nativeItems({ wire }: ServerToolPart): readonly JsonObject[] | undefined {
  return wire.length > 0 && wire.every(({ type }) => itemTypes.test(textOf(type) ?? '')) ? wire : undefined;
}

const typeOf = (tool: ServerToolPart['tool']): ItemType | undefined => {
  if (tool === 'web-search' || tool === 'url-context') return 'web_search_call';
  if (tool === 'file-search') return 'file_search_call';
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
  const found = results.map(({ fileId, title, score, text, attributes, storeId }) => ({
    file_id: fileId ?? '',
    filename: title ?? '',
    score: score ?? 0,
    text: text ?? '',
    attributes: attributes ?? {},
    ...(storeId === undefined ? {} : { vector_store_id: storeId }),
  }));
  return { queries: input, results: found };
}

function writeCodeRun({ input, results = [] }: ServerToolPart, containerId: string): JsonObject {
  const outputs = results.flatMap(({ text, url }): readonly JsonObject[] => [
    ...(text === undefined ? [] : [{ type: 'logs', logs: text }]),
    ...(url === undefined ? [] : [{ type: 'image', url }]),
  ]);
  return { code: input.join('\n'), container_id: containerId, outputs };
}

/** A tool at work, whose item has been told of. */
export type BegunTool = {
  readonly id: string;
  readonly type: ItemType;
  readonly containerId: string | undefined;
  readonly start: Extract<BlockStart, { kind: 'server-tool' }>;
  /** Code as far as it has been said. */
  code: string;
  /** Whether all of the code is known, so that it is being run. */
  runs: boolean;
};

export function beginTool(start: BegunTool['start'], { newId, containerId }: ToolIds): BegunTool | undefined {
  const type = typeOf(start.tool);
  if (type === undefined) return undefined;
  const id = newId(idPrefixes[type]);
  return { id, type, containerId: type === 'code_interpreter_call' ? containerId() : undefined, start, code: '', runs: false };
}

/** The item as it stands when its tool begins: what is found out later is not there yet. */
export function writeBegunTool({ id, type, containerId, start }: BegunTool): JsonObject {
  const begun = { id, type, status: 'in_progress' };
  if (type === 'code_interpreter_call') return { ...begun, code: '', container_id: containerId, outputs: null };
  return type === 'file_search_call' ? { ...begun, queries: start.input, results: null } : begun;
}

/** An event of an item: its name and its further members as JSON text. */
type Step = readonly [name: string, members: string];

/** More code. */
export function sayCode(tool: BegunTool, text: string): readonly Step[] {
  if (tool.type !== 'code_interpreter_call' || tool.runs || text === '') return [];
  tool.code += text;
  return [[`${tool.type}_code.delta`, `,"delta":${JSON.stringify(text)}`]];
}

function runCode(tool: BegunTool): readonly Step[] {
  if (tool.runs) return [];
  tool.runs = true;
  return [
    [`${tool.type}_code.done`, `,"code":${JSON.stringify(tool.code)}`],
    [`${tool.type}.interpreting`, ''],
  ];
}

/** The events with which a tool begins. Code that is known from the start is run at once. */
export function startSteps(tool: BegunTool): readonly Step[] {
  const begun: Step = [`${tool.type}.in_progress`, ''];
  if (tool.type !== 'code_interpreter_call') return [begun, [`${tool.type}.searching`, '']];
  const code = tool.start.input.join('\n');
  return code === '' ? [begun] : [begun, ...sayCode(tool, code), ...runCode(tool)];
}

/** The events with which a tool ends, and its finished item. */
export function endTool(
  tool: BegunTool,
  outcome: ServerToolPart | undefined,
): { readonly steps: readonly Step[]; readonly item: JsonObject } {
  const part = outcome ?? interrupt(tool);
  const code = part.input.join('\n');
  const isCode = tool.type === 'code_interpreter_call';
  const steps: Step[] = [];
  if (isCode) {
    if (!tool.runs && code.startsWith(tool.code)) steps.push(...sayCode(tool, code.slice(tool.code.length)));
    steps.push(...runCode(tool));
  }
  const failed = part.failed === true;
  if (!failed) steps.push([`${tool.type}.completed`, '']);
  const status = !failed ? 'completed' : outcome === undefined && tool.type !== 'web_search_call' ? 'incomplete' : 'failed';
  return { steps, item: writeToolItem(tool, part, status) };
}

/** What is left of a tool that was interrupted. */
function interrupt({ start, code }: BegunTool): ServerToolPart {
  return { kind: 'server-tool', tool: start.tool, id: start.id, input: code === '' ? start.input : [code], failed: true, wire: [] };
}

function writeToolItem({ id, type, containerId = '' }: BegunTool, part: ServerToolPart, status: string): JsonObject {
  const head = { id, type, status };
  if (type === 'file_search_call') return { ...head, ...writeFileSearch(part) };
  if (type === 'code_interpreter_call') return { ...head, ...writeCodeRun(part, containerId) };
  if (part.tool !== 'url-context') return { ...head, ...writeWebSearch(part) };
  const [url = ''] = part.input;
  return { ...head, action: { type: 'open_page', url }, results: (part.results ?? []).map(pageOf) };
}

/** A reading of several pages as readings of one page each: this dialect has an item for every page. */
export function splitPages(part: ServerToolPart): readonly ServerToolPart[] {
  if (part.tool !== 'url-context' || part.input.length < 2) return [part];
  return part.input.map((url) => {
    const results = (part.results ?? []).filter((finding) => finding.url === url);
    const failed = part.failed === true || results.some(({ unreadable }) => unreadable === true);
    const { failed: _failed, ...rest } = part;
    return { ...rest, input: [url], results, ...(failed ? { failed } : {}) };
  });
}
