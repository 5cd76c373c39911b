/** The content of a page, found without building its structure. */
export type ScannedHtml = {
  readonly title: string | undefined;
  readonly date: string | undefined;
  /** All visible text, including menus and footers. Blocks are separated by line breaks. */
  readonly text: string;
  /** The number of elements and their maximum depth. Both are never lower than in any parser. */
  readonly elements: number;
  readonly depth: number;
};

/** Elements in which `<` can only begin their end tag. */
const rawElements = new Set(['script', 'style', 'textarea', 'title']);

/** Elements whose content is not visible text. */
const hiddenElements = new Set(['noscript', 'template', 'svg', 'iframe', 'object', 'select', 'canvas', 'math']);

const emptyElements = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

/** Elements that end earlier elements without an end tag. */
const endsElements: Readonly<Record<string, readonly string[]>> = {
  p: ['p'],
  li: ['li', 'p'],
  dt: ['dt', 'dd', 'p'],
  dd: ['dt', 'dd', 'p'],
  td: ['td', 'th', 'p'],
  th: ['td', 'th', 'p'],
  tr: ['td', 'th', 'tr', 'p'],
  option: ['option'],
};

const blockElements = new Set(
  'address article aside blockquote br body dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tr ul'.split(
    ' ',
  ),
);

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  mdash: '—',
  ndash: '–',
  hellip: '…',
};

const tagName = /[a-z][a-z0-9]{0,20}/iy;
const dateNames = /(?:article:published_time|article:modified_time|datepublished|date|dc\.date|last-modified)/i;

/**
 * Reads a page in one pass. Time and memory grow only with its length, for any content. It decides whether a page can
 * be built, and is the result if not.
 */
export function scanHtml(html: string): ScannedHtml {
  const words: string[] = [];
  const found: { title: string | undefined; date: string | undefined } = { title: undefined, date: undefined };
  const nesting = createNesting();
  for (let at = 0; at < html.length;) {
    const open = html.indexOf('<', at);
    if (!nesting.isHidden()) words.push(html.slice(at, open < 0 ? undefined : open));
    if (open < 0) break;
    const tag = readTag(html, open);
    at = tag.end;
    if (tag.name === '') {
      if (tag.end === open + 1) words.push('<');
      continue;
    }
    if (blockElements.has(tag.name)) words.push('\n');
    if (tag.closes) {
      nesting.close(tag.name);
      continue;
    }
    if (tag.name === 'meta') found.date ??= readDate(html.slice(open, Math.min(tag.end, open + 1000)));
    if (rawElements.has(tag.name)) {
      at = endOfRaw(html, tag.end, tag.name);
      if (tag.name === 'title') found.title ??= tidy(html.slice(tag.end, Math.min(at, tag.end + 1000)).replace(/<\/title[^]*$/i, ''));
    }
    nesting.open(tag.name);
  }
  return { ...found, text: tidyLines(decodeEntities(words.join(''))), ...nesting.measure() };
}

/** Tracks open elements like a parser: an end tag ends the elements inside, and an end without a start ends nothing. */
function createNesting() {
  const stack: string[] = [];
  const counts = new Map<string, number>();
  let elements = 0;
  let depth = 0;
  let hiddenFrom = 0;
  const pop = (): string => {
    const name = stack.pop() ?? '';
    counts.set(name, (counts.get(name) ?? 1) - 1);
    if (stack.length < hiddenFrom) hiddenFrom = 0;
    return name;
  };
  return {
    isHidden: () => hiddenFrom > 0,
    open: (name: string) => {
      elements += 1;
      if (emptyElements.has(name) || rawElements.has(name)) return;
      const ends = endsElements[name];
      while (ends?.includes(stack.at(-1) ?? '') === true) pop();
      stack.push(name);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      depth = Math.max(depth, stack.length);
      if (hiddenFrom === 0 && hiddenElements.has(name)) hiddenFrom = stack.length;
    },
    close: (name: string) => {
      if ((counts.get(name) ?? 0) > 0) while (pop() !== name);
    },
    measure: () => ({ elements, depth }),
  };
}

type Tag = { readonly name: string; readonly closes: boolean; readonly end: number };

/**
 * Reads the tag at `<`. Its name is empty for comments and declarations. For a `<` that begins nothing, the end equals
 * the start.
 */
function readTag(html: string, open: number): Tag {
  if (html.startsWith('<!--', open)) return { name: '', closes: false, end: after(html, '-->', open + 4) };
  const next = html[open + 1];
  if (next === '!' || next === '?') return { name: '', closes: false, end: after(html, '>', open) };
  const closes = next === '/';
  tagName.lastIndex = open + (closes ? 2 : 1);
  const name = tagName.exec(html)?.[0].toLowerCase();
  if (name === undefined) return { name: '', closes, end: open + 1 };
  return { name, closes, end: endOfTag(html, open + 1) };
}

/** Returns the position after the `>` that ends a tag, ignoring any in quotes. */
function endOfTag(html: string, from: number): number {
  for (let at = from; at < html.length; at += 1) {
    const character = html[at];
    if (character === '>') return at + 1;
    if (character !== '"' && character !== "'") continue;
    const closing = html.indexOf(character, at + 1);
    if (closing < 0) return html.length;
    at = closing;
  }
  return html.length;
}

function endOfRaw(html: string, from: number, name: string): number {
  const end = new RegExp(`</${name}`, 'gi');
  end.lastIndex = from;
  const found = end.exec(html);
  return found === null ? html.length : after(html, '>', found.index);
}

function after(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from);
  return at < 0 ? html.length : at + mark.length;
}

function readDate(tag: string): string | undefined {
  const name = /(?:name|property|itemprop|http-equiv)\s*=\s*["']?([^"'\s>]{1,60})/i.exec(tag)?.[1] ?? '';
  return dateNames.test(name) ? readContent(tag) : undefined;
}

function readContent(tag: string): string | undefined {
  const content = /content\s*=\s*["']([^"']{4,60})["']/i.exec(tag)?.[1];
  return content === undefined || Number.isNaN(Date.parse(content)) ? undefined : content;
}

/** Reads one line of text from markup without tags. */
function tidy(text: string): string | undefined {
  const line = decodeEntities(text).replace(/\s+/g, ' ').trim();
  return line === '' ? undefined : line;
}

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi,
    (whole, decimal?: string, hexadecimal?: string, name?: string) => {
      if (name !== undefined) return entities[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD';
    },
  );
}

/** Removes spaces at the ends of lines and repeated empty lines. */
export function tidyLines(text: string): string {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    const tidied = line.replace(/[^\S\n]+/g, ' ').trim();
    if (tidied !== '' || (lines.length > 0 && lines.at(-1) !== '')) lines.push(tidied);
  }
  return lines.join('\n').trim();
}
