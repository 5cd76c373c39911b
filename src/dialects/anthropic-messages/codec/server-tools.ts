import { createHash } from 'node:crypto';

import type { ServerToolPart } from '../../../inference/inference-request.ts';
import { wrapProof } from '../../../inference/proof.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';

/** How the ids of server tools begin that no vendor of this dialect ran: by it they are told apart when they come back. */
const foreignIdPrefix = 'srvtoolu_gw1_';

/** What stands for the vendor's sealed page content, which only it could have written. */
const foreignContent = wrapProof({ origin: '', blob: '' });

/** Puts the use of a server tool and its result together, which stand in blocks of their own. */
export type ServerToolPairing = {
  readonly begin: (use: JsonObject) => void;
  /** The part of a result, together with the use it answers where that is known. */
  readonly finish: (result: JsonObject) => ServerToolPart;
  /** Uses that no result has come for: a paused turn ends with them. */
  readonly unfinished: () => readonly ServerToolPart[];
};

export const isServerToolUse = (type: string): boolean => type === 'server_tool_use' || type === 'mcp_tool_use';
export const isServerToolResult = (type: string): boolean => type !== 'tool_result' && type.endsWith('_tool_result');

export function createServerToolPairing(): ServerToolPairing {
  const uses = new Map<string, JsonObject>();
  return {
    begin: (use) => void uses.set(textOf(use.id) ?? '', use),
    finish: (result) => {
      const id = textOf(result.tool_use_id) ?? '';
      const use = uses.get(id);
      uses.delete(id);
      return decodePair(id, use, result);
    },
    unfinished: () => {
      const left = [...uses].map(([id, use]) => decodePair(id, use, undefined));
      uses.clear();
      return left;
    },
  };
}

function decodePair(id: string, use: JsonObject | undefined, result: JsonObject | undefined): ServerToolPart {
  const results = result === undefined ? undefined : decodeResults(result.content);
  return {
    kind: 'server-tool',
    tool: toolOf(textOf(use?.name ?? result?.type) ?? ''),
    id,
    input: decodeInput(use?.input),
    ...(results === undefined ? {} : { results }),
    ...(result !== undefined && isFailure(result) ? { failed: true } : {}),
    wire: [use, result].filter((block) => block !== undefined),
  };
}

function toolOf(name: string): ServerToolPart['tool'] {
  if (name.startsWith('web_search')) return 'web-search';
  return name.includes('code_execution') ? 'code-execution' : 'other';
}

function decodeInput(input: JsonValue | undefined): readonly string[] {
  if (!isJsonObject(input)) return [];
  const told = input.query ?? input.code ?? input.command;
  if (typeof told === 'string') return [told];
  return Object.keys(input).length === 0 ? [] : [JSON.stringify(input)];
}

function isFailure({ content, is_error: isError }: JsonObject): boolean {
  return isError === true || (isJsonObject(content) && typeof content.type === 'string' && content.type.endsWith('_error'));
}

function decodeResults(content: JsonValue | undefined): NonNullable<ServerToolPart['results']> {
  if (Array.isArray(content)) return content.flatMap((item) => (isJsonObject(item) ? [decodeResult(item)] : []));
  if (typeof content === 'string') return [{ text: content }];
  if (!isJsonObject(content)) return [];
  const printed = [textOf(content.stdout) ?? '', textOf(content.stderr) ?? ''].filter((text) => text !== '');
  return printed.length === 0 ? [] : [{ text: printed.join('\n') }];
}

function decodeResult({ url, title, text }: JsonObject): NonNullable<ServerToolPart['results']>[number] {
  return {
    ...(typeof url === 'string' ? { url } : {}),
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof text === 'string' ? { text } : {}),
  };
}

/** Whether a block stands for a server tool that another vendor ran. */
export function isForeignServerTool(block: JsonObject): boolean {
  return [block.id, block.tool_use_id].some((id) => typeof id === 'string' && id.startsWith(foreignIdPrefix));
}

/** The blocks of a server tool as this dialect's vendor wrote them; undefined for those of other dialects. */
export function nativeBlocks({ wire }: ServerToolPart): readonly JsonObject[] | undefined {
  const isNative = wire.every(({ type }) => typeof type === 'string' && (isServerToolUse(type) || isServerToolResult(type)));
  return isNative && wire.length > 0 ? wire : undefined;
}

/** Writes what a server tool did for a client; undefined for tools that this dialect has no blocks for. */
export function encodeServerTool(part: ServerToolPart): readonly JsonObject[] | undefined {
  const native = nativeBlocks(part);
  if (native !== undefined) return native;
  const id = foreignIdPrefix + (/^\w{1,64}$/.test(part.id) ? part.id : createHash('sha256').update(part.id).digest('hex').slice(0, 24));
  if (part.tool === 'web-search') return encodeWebSearch(id, part);
  return part.tool === 'code-execution' ? encodeCodeExecution(id, part) : undefined;
}

function encodeWebSearch(id: string, { input, results = [], failed }: ServerToolPart): readonly JsonObject[] {
  const pages = results.flatMap(({ url, title }) =>
    url === undefined ? [] : [{ type: 'web_search_result', url, title: title ?? url, encrypted_content: foreignContent, page_age: null }],
  );
  const content: JsonValue = failed === true ? { type: 'web_search_tool_result_error', error_code: 'unavailable' } : pages;
  return [
    { type: 'server_tool_use', id, name: 'web_search', input: { query: input.join('; ') } },
    { type: 'web_search_tool_result', tool_use_id: id, content },
  ];
}

function encodeCodeExecution(id: string, { input, results = [], failed }: ServerToolPart): readonly JsonObject[] {
  const printed = results.flatMap(({ text }) => text ?? []).join('\n');
  const [stdout, stderr] = failed === true ? ['', printed] : [printed, ''];
  const content = { type: 'code_execution_result', stdout, stderr, return_code: failed === true ? 1 : 0, content: [] };
  return [
    { type: 'server_tool_use', id, name: 'code_execution', input: { code: input.join('\n') } },
    { type: 'code_execution_tool_result', tool_use_id: id, content },
  ];
}
