import { createHash } from 'node:crypto';

import type { BuiltInToolKind, ServerToolPart, ToolFinding } from '../../../inference/inference-request.ts';
import { meaningOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import { sealFinding } from './sealed-findings.ts';
import { foreignIdPrefix, nativeBlocks } from './server-tools.ts';

/** Writes the id for a tool that another vendor ran. */
export function foreignToolId(id: string, page = 0): string {
  const shortId = /^\w{1,64}$/.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 24);
  return foreignIdPrefix + (page === 0 ? shortId : `${shortId}_${page + 1}`);
}

const nameByKind: Partial<Readonly<Record<BuiltInToolKind | 'other', string>>> = {
  'web-search': 'web_search',
  'url-context': 'web_fetch',
  'code-execution': 'code_execution',
};

/** The name of a tool in this dialect. Undefined if the dialect has no blocks for it. */
export const wireNameOf = (tool: ServerToolPart['tool']): string | undefined => nameByKind[tool];

/** Writes the `input` of a tool. */
export function writeInput(tool: ServerToolPart['tool'], input: readonly string[]): JsonObject {
  if (tool === 'web-search') return { query: input.join('; ') };
  return tool === 'url-context' ? { url: input[0] ?? '' } : { code: input.join('\n') };
}

/** The vendor's names of errors. Any other error becomes "unavailable". */
const searchErrors: Readonly<Record<string, string>> = { 'limit-reached': 'max_uses_exceeded', 'invalid-input': 'invalid_tool_input' };
const fetchErrors: Readonly<Record<string, string>> = { ...searchErrors, unavailable: 'url_not_accessible' };
const codeErrors: Readonly<Record<string, string>> = {
  'timed-out': 'execution_time_exceeded',
  'limit-reached': 'too_many_requests',
  'invalid-input': 'invalid_tool_input',
};

const wordError = (part: ServerToolPart, words: Readonly<Record<string, string>>): string =>
  meaningOf(part.failure, words) ?? 'unavailable';

function writeSearchResult(part: ServerToolPart): JsonValue {
  if (part.failed === true) return { type: 'web_search_tool_result_error', error_code: wordError(part, searchErrors) };
  return (part.results ?? []).flatMap((finding) => {
    const { url, title, date } = finding;
    if (url === undefined) return [];
    return [{ type: 'web_search_result', url, title: title ?? url, encrypted_content: sealFinding(finding), page_age: date ?? null }];
  });
}

function writeFetchResult(part: ServerToolPart): JsonObject {
  const [requestedUrl = ''] = part.input;
  const { results = [] } = part;
  // Vendors that do not send the text of a page have read it anyway.
  const found = results.find(({ unreadable }) => unreadable !== true) ?? {};
  if (part.failed === true || (results.length > 0 && results.every(({ unreadable }) => unreadable === true)))
    return { type: 'web_fetch_tool_result_error', error_code: wordError(part, fetchErrors) };
  const { url = requestedUrl, title, text = '', date } = found;
  const source = { type: 'text', media_type: 'text/plain', data: text };
  return {
    type: 'web_fetch_result',
    url,
    content: { type: 'document', source, title: title ?? null, citations: { enabled: true } },
    retrieved_at: date ?? null,
  };
}

function writeCodeResult(part: ServerToolPart): JsonObject {
  const { failed = false, failure, results = [] } = part;
  const printed = results.flatMap(({ text }) => text ?? []).join('\n');
  // Output before a failure is more useful than the failure itself.
  if (failed && failure !== undefined && printed === '')
    return { type: 'code_execution_tool_result_error', error_code: wordError(part, codeErrors) };
  const [stdout, stderr] = failed ? ['', printed] : [printed, ''];
  return { type: 'code_execution_result', stdout, stderr, return_code: failed ? 1 : 0, content: [] };
}

/** Writes the result of a tool as a block. */
export function writeResultBlock(id: string, part: ServerToolPart): JsonObject {
  switch (part.tool) {
    case 'web-search':
      return { type: 'web_search_tool_result', tool_use_id: id, content: writeSearchResult(part) };
    case 'url-context':
      return { type: 'web_fetch_tool_result', tool_use_id: id, content: writeFetchResult(part) };
    case 'code-execution':
    case 'file-search':
    case 'image-generation':
    case 'other':
      return { type: 'code_execution_tool_result', tool_use_id: id, content: writeCodeResult(part) };
  }
}

/** Splits a reading of several pages, because a use of the tool names one page here. */
export function splitPages(part: ServerToolPart): readonly ServerToolPart[] {
  if (part.tool !== 'url-context' || part.input.length < 2) return [part];
  return part.input.map((url) => ({
    ...part,
    input: [url],
    results: (part.results ?? []).filter((found: ToolFinding) => found.url === url),
  }));
}

/** Writes the activity of a server tool for a client. Undefined if this dialect has no blocks for the tool. */
export function encodeServerTool(part: ServerToolPart): readonly JsonObject[] | undefined {
  const native = nativeBlocks(part);
  if (native !== undefined) return native;
  const name = wireNameOf(part.tool);
  if (name === undefined) return undefined;
  return splitPages(part).flatMap((piece, page) => {
    const id = foreignToolId(part.id, page);
    return [{ type: 'server_tool_use', id, name, input: writeInput(piece.tool, piece.input) }, writeResultBlock(id, piece)];
  });
}
