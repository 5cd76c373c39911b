import { isRecord } from './read-json.ts';
import type { Json, JsonRecord, PlanRequest } from './simulated-vendor.ts';

/** The likely purpose of a function, by its name. */
type Purpose = 'search-web' | 'search-files' | 'run-code' | 'read-pages' | 'make-image';

const purposes: readonly (readonly [pattern: RegExp, purpose: Purpose])[] = [
  [/file_?search|search_?files|search_?documents/i, 'search-files'],
  [/web_?search|search_?(the_)?web/i, 'search-web'],
  [/python|code_(execution|interpreter)|(run|execute)_code/i, 'run-code'],
  [/(generate|make|draw)_?image|image_?generation/i, 'make-image'],
  [/(read|open|fetch|web)_?(url|page|pages|fetch)s?$|url_context/i, 'read-pages'],
];

const addresses = /https?:\/\/[^\s"'<>)\]]*[^\s"'<>)\].,;:!?]/g;
const code =
  /(?:```(?:python)?\s*([\s\S]+?)```|(?:run|execute)(?: this)? (?:python|code)\s*:\s*([\s\S]+)|(?:compute|calculate)\s*:?\s*([\s\S]+))/i;

/** The input that a question has for a purpose, or undefined. */
function readInput(question: string, purpose: Purpose): readonly string[] | undefined {
  switch (purpose) {
    case 'read-pages': {
      const found = question.match(addresses);
      return found === null ? undefined : [...new Set(found)].slice(0, 20);
    }
    case 'run-code': {
      const found = code.exec(question);
      if (found === null) return undefined;
      const written = found[1] ?? found[2];
      return [(written ?? `print(${(found[3] ?? '').replace(/[?.!\s]+$/, '')})`).trim()];
    }
    case 'make-image':
      return /\b(draw|paint|image of)\b/i.test(question) ? [question.trim()] : undefined;
    case 'search-files':
      return /\b(files?|documents?|uploaded)\b/i.test(question) ? [wordsOf(question)] : undefined;
    case 'search-web':
      return /\b(search|look up|find out|latest|news|on the web)\b/i.test(question) && !/\b(files?|documents?)\b/i.test(question)
        ? [wordsOf(question)]
        : undefined;
  }
}

/** The question without instructions about the form of the answer. */
function wordsOf(question: string): string {
  const plain = question
    .replace(/\[\[simulator [^\]]*\]\]/g, '')
    .replace(/^.*?\b(?:search(?: the web| my files| the files)?(?: for)?|look up|find out)\b:?\s*/is, '')
    .replace(/\s+/g, ' ')
    .replace(/[?.!\s]+$/, '')
    .trim();
  return (plain === '' ? question.trim() : plain).slice(0, 200);
}

/** Arguments for a function of any schema: its first parameter gets the input, and other required ones get samples. */
function fillArguments(schema: JsonRecord, input: readonly string[], sample: Json): JsonRecord {
  const { properties } = schema;
  const known = isRecord(properties) ? properties : {};
  const [name = 'query'] = Object.keys(known);
  const own = known[name];
  const required: JsonRecord = {};
  const demanded = Array.isArray(schema.required) ? schema.required : [];
  if (isRecord(sample)) for (const key of demanded) if (typeof key === 'string' && key !== name) required[key] = sample[key];
  const value = isRecord(own) && own.type === 'array' ? [...input] : input.join('\n');
  return { ...required, [name]: value };
}

/** The offered functions that search, run code or read pages. */
function findTools(request: PlanRequest): readonly { readonly name: string; readonly schema: JsonRecord; readonly purpose: Purpose }[] {
  return request.tools.flatMap(({ name, schema }) => {
    const purpose = purposes.find(([pattern]) => pattern.test(name))?.[1];
    return purpose === undefined ? [] : [{ name, schema, purpose }];
  });
}

/**
 * The calls that the question asks for: a search, code if something is to be computed, a page if an address is named.
 * Undefined without a suitable function; then the model calls any function.
 */
export function planToolCalls(
  request: PlanRequest,
  sampleOf: (schema: JsonRecord) => Json,
): readonly { readonly name: string; readonly arguments: JsonRecord }[] | undefined {
  if (request.toolChoice !== 'auto') return undefined;
  const tools = findTools(request);
  if (tools.length === 0) return undefined;
  if (request.answersToolResult) return [];
  const calls = tools.flatMap(({ name, schema, purpose }) => {
    const input = readInput(request.lastUserText, purpose);
    return input === undefined ? [] : [{ name, arguments: fillArguments(schema, input, sampleOf(schema)) }];
  });
  if (calls.length === 0) return tools.length === request.tools.length ? [] : undefined;
  return request.parallelToolCalls ? calls : calls.slice(0, 1);
}

/** A source in an element of its own, and a passage behind its number. */
const sourceElements = /<source number="【(\d{1,6})】"[^>]*>\s*([\s\S]*?)\s*<\/source>/g;
const numberedPassages = /【(\d{1,6})】[ \t]*([^【】]+)/g;

/** An answer from the results of tools: the text of each source, followed by its number. Undefined without results. */
export function answerFromTools(request: PlanRequest): string | undefined {
  if (!request.answersToolResult || findTools(request).length === 0) return undefined;
  const { promptText, lastUserText } = request;
  // JSON results have escaped line ends and quotation marks.
  const results = promptText
    .slice(promptText.lastIndexOf(lastUserText) + lastUserText.length)
    .replace(/\\n/g, '\n')
    .replace(/\\"/g, '"');
  const elements = [...results.matchAll(sourceElements)];
  const found = elements.length > 0 ? elements : [...results.matchAll(numberedPassages)];
  const quoted = found.map(([, number, text = '']) => ({ number, said: elements.length > 0 ? text : withoutHeading(text) }));
  const sentences = quoted.slice(0, 3).map(({ number, said }) => `${firstWords(said)}.【${number}】`);
  if (sentences.length > 0) return `Here is what I found. ${sentences.join(' ')}`;
  const brought = results.trim().split('\n').slice(1).join(' ').trim();
  return `The tool answered: ${(brought === '' ? results.trim() : brought).slice(0, 400)}`;
}

/** A passage without the lines about its origin (title and address), and without the end of its JSON. */
function withoutHeading(passage: string): string {
  const [title = '', ...lines] = passage.replace(/"\s*[}\]]+\s*$/, '').split('\n');
  const text = lines
    .filter((line) => !/^https?:\S+$/.test(line.trim()))
    .join('\n')
    .trim();
  return text === '' ? title : text;
}

/** A sentence of a source, on one line and without its end. */
function firstWords(text: string): string {
  const plain = text.replace(/\s+/g, ' ').trim();
  return plain.slice(0, 160).replace(/[\s.]+$/, '');
}
