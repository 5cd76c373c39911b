import type { ServerToolPart, ToolFinding } from '../../../inference/inference-request.ts';
import { meaningOf, membersOf, numberOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { openFinding } from './sealed-findings.ts';

/** The prefix of ids of server tools that another vendor ran. It identifies them in the history. */
export const foreignIdPrefix = 'srvtoolu_gw1_';

/** Joins the use of a server tool with its result, which are separate blocks. */
export type ServerToolPairing = {
  readonly begin: (use: JsonObject) => void;
  /** Returns the part of a result, with its use if that is known. */
  readonly finish: (result: JsonObject) => ServerToolPart;
  /** Returns uses without a result, with which a paused turn ends. */
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
  const failed = result !== undefined && isFailure(result);
  const failure = failed ? decodeFailure(result.content) : undefined;
  return {
    kind: 'server-tool',
    tool: toolOf(textOf(use?.name ?? result?.type) ?? ''),
    id,
    input: decodeInput(use?.input),
    ...(results === undefined ? {} : { results }),
    ...(failed ? { failed } : {}),
    ...(failure === undefined ? {} : { failure }),
    wire: [use, result].filter((block) => block !== undefined),
  };
}

function toolOf(name: string): ServerToolPart['tool'] {
  if (name.startsWith('web_search')) return 'web-search';
  if (name.startsWith('web_fetch')) return 'url-context';
  return name.includes('code_execution') ? 'code-execution' : 'other';
}

function decodeInput(input: JsonValue | undefined): readonly string[] {
  if (!isJsonObject(input)) return [];
  const value = input.query ?? input.url ?? input.code ?? input.command;
  if (typeof value === 'string') return [value];
  return Object.keys(input).length === 0 ? [] : [JSON.stringify(input)];
}

function isFailure({ content, is_error: isError }: JsonObject): boolean {
  if (isError === true) return true;
  if (!isJsonObject(content)) return false;
  return (typeof content.type === 'string' && content.type.endsWith('_error')) || (numberOf(content.return_code) ?? 0) !== 0;
}

const failureByCode: Readonly<Record<string, NonNullable<ServerToolPart['failure']>>> = {
  max_uses_exceeded: 'limit-reached',
  too_many_requests: 'limit-reached',
  invalid_tool_input: 'invalid-input',
  execution_time_exceeded: 'timed-out',
  unavailable: 'unavailable',
  url_not_accessible: 'unavailable',
};

const decodeFailure = (content: JsonValue | undefined): ServerToolPart['failure'] =>
  meaningOf(membersOf(content).error_code, failureByCode);

function decodeResults(content: JsonValue | undefined): NonNullable<ServerToolPart['results']> {
  if (Array.isArray(content)) return content.flatMap((item) => (isJsonObject(item) ? [decodeResult(item)] : []));
  if (typeof content === 'string') return [{ text: content }];
  if (!isJsonObject(content)) return [];
  if (content.type === 'web_fetch_result') return [decodePage(content)];
  const printed = [textOf(content.stdout) ?? '', textOf(content.stderr) ?? ''].filter((text) => text !== '');
  return printed.length === 0 ? [] : [{ text: printed.join('\n') }];
}

/** Reads a page. Its text is present unless it is a PDF. */
function decodePage({ url, content, retrieved_at: date }: JsonObject): ToolFinding {
  const { title, source } = membersOf(content);
  const { type, data } = membersOf(source);
  return {
    ...(typeof url === 'string' ? { url } : {}),
    ...(typeof title === 'string' ? { title } : {}),
    ...(type === 'text' && typeof data === 'string' ? { text: data } : {}),
    ...(typeof date === 'string' ? { date } : {}),
  };
}

function decodeResult({ url, title, text, page_age: date, encrypted_content: sealed }: JsonObject): ToolFinding {
  return {
    ...openFinding(sealed),
    ...(typeof date === 'string' ? { date } : {}),
    ...(typeof url === 'string' ? { url } : {}),
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof text === 'string' ? { text } : {}),
  };
}

/** Whether a block is of a server tool that another vendor ran. */
export function isForeignServerTool(block: JsonObject): boolean {
  return [block.id, block.tool_use_id].some((id) => typeof id === 'string' && id.startsWith(foreignIdPrefix));
}

/** Returns the original blocks of a server tool if this dialect's vendor wrote them. */
export function nativeBlocks({ wire }: ServerToolPart): readonly JsonObject[] | undefined {
  const isNative = wire.every(({ type }) => typeof type === 'string' && (isServerToolUse(type) || isServerToolResult(type)));
  return isNative && wire.length > 0 ? wire : undefined;
}
