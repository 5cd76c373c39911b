import type { MediaPart, ServerToolPart } from '../../../inference/inference-request.ts';
import { filledText, membersOf, objectsOf, textOf, textsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

type Results = NonNullable<ServerToolPart['results']>;

function decodeWebSearch(item: JsonObject): Pick<ServerToolPart, 'tool' | 'input' | 'results'> {
  const action = membersOf(item.action);
  const queries = textsOf(action.queries);
  const query = filledText(action.query) ?? filledText(action.pattern) ?? filledText(action.url);
  const found = objectsOf(action.sources).length > 0 ? objectsOf(action.sources) : objectsOf(item.results);
  const results: Results = found.flatMap((source) => {
    const url = textOf(source.url);
    const title = filledText(source.title);
    return url === undefined ? [] : [{ url, ...(title === undefined ? {} : { title }) }];
  });
  const input = queries.length > 0 ? queries : query === undefined ? [] : [query];
  // Opening a page and looking into it are items of the same type, and no searches.
  const isSearch = action.type === undefined || action.type === 'search';
  return { tool: isSearch ? 'web-search' : 'other', input, ...(results.length === 0 ? {} : { results }) };
}

function decodeCodeRun(item: JsonObject): Pick<ServerToolPart, 'tool' | 'input' | 'results'> {
  const code = filledText(item.code);
  const results: Results = objectsOf(item.outputs).flatMap((output): Results => {
    const text = textOf(output.logs);
    const url = textOf(output.url);
    return text !== undefined ? [{ text }] : url !== undefined ? [{ url }] : [];
  });
  return { tool: 'code-execution', input: code === undefined ? [] : [code], ...(results.length === 0 ? {} : { results }) };
}

function decodeFileSearch(item: JsonObject): Pick<ServerToolPart, 'tool' | 'input' | 'results'> {
  const results: Results = objectsOf(item.results).map((found) => {
    const title = filledText(found.filename);
    const text = filledText(found.text);
    return { ...(title === undefined ? {} : { title }), ...(text === undefined ? {} : { text }) };
  });
  return { tool: 'other', input: textsOf(item.queries), ...(results.length === 0 ? {} : { results }) };
}

function readActivity(item: JsonObject): Pick<ServerToolPart, 'tool' | 'input' | 'results'> | undefined {
  switch (textOf(item.type) ?? '') {
    case 'web_search_call':
      return decodeWebSearch(item);
    case 'code_interpreter_call':
      return decodeCodeRun(item);
    case 'file_search_call':
      return decodeFileSearch(item);
    case 'mcp_call':
    case 'mcp_list_tools':
      return { tool: 'other', input: [] };
    default:
      return undefined;
  }
}

/** Reads an item of a tool that the vendor ran. Undefined for items that are none. */
export function decodeServerTool(item: JsonObject): ServerToolPart | undefined {
  const activity = readActivity(item);
  if (activity === undefined) return undefined;
  const failed = item.status === 'failed';
  return { kind: 'server-tool', id: textOf(item.id) ?? '', ...activity, ...(failed ? { failed } : {}), wire: [item] };
}

/** Reads a picture that the vendor made. Undefined while it has none. */
export function decodeGeneratedImage(item: JsonObject): MediaPart | undefined {
  const data = item.type === 'image_generation_call' ? filledText(item.result) : undefined;
  if (data === undefined) return undefined;
  const mediaType = `image/${filledText(item.output_format) ?? 'png'}`;
  return { kind: 'media', media: 'image', source: { kind: 'inline', mediaType, data } };
}
