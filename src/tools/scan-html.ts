/** What a page says without its structure being built. */
export type ScannedHtml = {
  readonly title: string | undefined;
  readonly date: string | undefined;
  /** All that is there to read, menus and footers included; blocks are separated by line ends. */
  readonly text: string;
  /** How many elements it has, and how deep they are nested at most: no fewer and no less deep than any parser would find. */
  readonly elements: number;
  readonly depth: number;
};

/** Elements inside which `<` begins nothing but their end. */
const rawElements = new Set(['script', 'style', 'textarea', 'title']);

/** Elements whose content is no text to read. */
const hiddenElements = new Set(['noscript', 'template', 'svg', 'iframe', 'object', 'select', 'canvas', 'math']);

const emptyElements = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

/** Elements that end those before them which have no end of their own. */
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
 * Reads a page in one pass, whose time and memory grow with its length alone whatever stands in it. It is the measure of whether a page can be built at all, and
 * what is read where it cannot.
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

/** Which elements are open, as parsers keep it: an element's end ends those within it, and an end without a beginning ends nothing. */
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

/** The tag at `<`. Its name is empty for comments and declarations, and for a `<` that begins nothing, which ends where it begins. */
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

/** Behind the `>` that ends a tag, which is none that stands in quotes. */
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

/** One line of text out of markup that holds no tags. */
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

/** Lines without spaces at their ends and with at most one empty line between them. */
export function tidyLines(text: string): string {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    const tidied = line.replace(/[^\S\n]+/g, ' ').trim();
    if (tidied !== '' || (lines.length > 0 && lines.at(-1) !== '')) lines.push(tidied);
  }
  return lines.join('\n').trim();
}
