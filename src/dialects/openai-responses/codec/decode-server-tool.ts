import type { MediaPart, ServerToolPart } from '../../../inference/inference-request.ts';
import { filledText, membersOf, numberOf, objectsOf, textOf, textsOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';

type Results = NonNullable<ServerToolPart['results']>;

function decodePage(page: JsonObject): Results {
  const url = textOf(page.url);
  const title = filledText(page.title);
  const text = filledText(page.text);
  const date = filledText(page.date);
  if (url === undefined) return [];
  return [
    {
      url,
      ...(title === undefined ? {} : { title }),
      ...(text === undefined ? {} : { text }),
      ...(date === undefined ? {} : { date }),
    },
  ];
}

/** Opening a page and finding text in it have the same item type, and are not searches. */
function toolOfAction(type: JsonValue | undefined): ServerToolPart['tool'] {
  if (type === undefined || type === 'search') return 'web-search';
  return type === 'open_page' ? 'url-context' : 'other';
}

function decodeWebSearch(item: JsonObject): Pick<ServerToolPart, 'tool' | 'input' | 'results'> {
  const action = membersOf(item.action);
  const queries = textsOf(action.queries);
  const query = filledText(action.query) ?? filledText(action.pattern) ?? filledText(action.url);
  // The results have more data about the same pages than the sources.
  const entries = objectsOf(item.results).length > 0 ? objectsOf(item.results) : objectsOf(action.sources);
  const results: Results = entries.flatMap(decodePage);
  const input = queries.length > 0 ? queries : query === undefined ? [] : [query];
  return { tool: toolOfAction(action.type), input, ...(results.length === 0 ? {} : { results }) };
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
  const results: Results = objectsOf(item.results).map((entry) => {
    const title = filledText(entry.filename);
    const text = filledText(entry.text);
    const fileId = filledText(entry.file_id);
    const storeId = filledText(entry.vector_store_id);
    const score = numberOf(entry.score);
    return {
      ...(title === undefined ? {} : { title }),
      ...(text === undefined ? {} : { text }),
      ...(fileId === undefined ? {} : { fileId }),
      ...(storeId === undefined ? {} : { storeId }),
      ...(isJsonObject(entry.attributes) ? { attributes: entry.attributes } : {}),
      ...(score === undefined ? {} : { score }),
    };
  });
  return { tool: 'file-search', input: textsOf(item.queries), ...(results.length === 0 ? {} : { results }) };
}

/** A call of a remote server's tool, which the vendor made. */
function decodeRemoteCall(item: JsonObject): Pick<ServerToolPart, 'tool' | 'input' | 'results'> {
  const text = filledText(item.output);
  const input = [filledText(item.name), filledText(item.arguments)].flatMap((value) => value ?? []);
  return { tool: 'other', input, ...(text === undefined ? {} : { results: [{ text }] }) };
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
      return decodeRemoteCall(item);
    case 'mcp_list_tools':
      return { tool: 'other', input: [] };
    default:
      return undefined;
  }
}

/** Reads an item of a tool that the vendor ran. Undefined for other items. */
export function decodeServerTool(item: JsonObject): ServerToolPart | undefined {
  const activity = readActivity(item);
  if (activity === undefined) return undefined;
  const failed = item.status === 'failed' || item.status === 'incomplete';
  return { kind: 'server-tool', id: textOf(item.id) ?? '', ...activity, ...(failed ? { failed } : {}), wire: [item] };
}

/** Reads an image that the vendor generated. Undefined while it has none. */
export function decodeGeneratedImage(item: JsonObject): MediaPart | undefined {
  const data = item.type === 'image_generation_call' ? filledText(item.result) : undefined;
  if (data === undefined) return undefined;
  const mediaType = `image/${filledText(item.output_format) ?? 'png'}`;
  return { kind: 'media', media: 'image', source: { kind: 'inline', mediaType, data } };
}
