import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';

import { tidyLines } from './scan-html.ts';

/** The members of a DOM node that are used here. */
type PageNode = {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly nodeValue: string | null;
  readonly firstChild: PageNode | null;
  readonly nextSibling: PageNode | null;
  readonly parentNode: PageNode | null;
};

type Article = { readonly title: string | undefined; readonly text: string; readonly date: string | undefined };

const textNode = 3;
const elementNode = 1;

/** The text before the content of an element. All other elements begin a new line, or add nothing. */
const before: Readonly<Record<string, string>> = {
  H1: '\n\n# ',
  H2: '\n\n## ',
  H3: '\n\n### ',
  H4: '\n\n#### ',
  H5: '\n\n##### ',
  H6: '\n\n###### ',
  LI: '\n- ',
  BR: '\n',
  TR: '\n',
  TD: ' | ',
  TH: ' | ',
  P: '\n\n',
  PRE: '\n\n',
  BLOCKQUOTE: '\n\n',
  UL: '\n',
  OL: '\n',
  TABLE: '\n\n',
  DIV: '\n',
  SECTION: '\n\n',
  FIGURE: '\n\n',
  DT: '\n',
  DD: '\n',
};
const endsBlock = new Set(['H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'P', 'PRE', 'BLOCKQUOTE', 'UL', 'OL', 'TABLE', 'DIV', 'SECTION', 'FIGURE']);

/**
 * Reads the article of a page, without menus and footers, as plain text with marked headings and lists. Undefined if it
 * finds none.
 *
 * It builds the whole page, whose cost grows with the square of its depth: 1,000 nested elements take seconds. Use it
 * only for pages within the limits of scanHtml, and in a thread that can be terminated.
 */
export function readArticle(html: string): Article | undefined {
  const { document } = parseHTML(html) as unknown as { readonly document: never };
  const options = { charThreshold: 200, serializer: (node: unknown) => writeNodes(node as PageNode) };
  const article = new Readability<string>(document, options).parse();
  const text = article?.content ?? '';
  if (article === null || text === '') return undefined;
  return { title: filled(article.title), text, date: filled(article.publishedTime) };
}

function filled(text: string | null | undefined): string | undefined {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? undefined : trimmed;
}

/** Walks without recursion, because the author of a page chooses its depth. */
function writeNodes(root: PageNode): string {
  const pieces: string[] = [];
  let node: PageNode | null = root;
  while (node !== null) {
    if (node.nodeType === textNode) pieces.push((node.nodeValue ?? '').replace(/\s+/g, ' '));
    if (node.nodeType === elementNode) pieces.push(before[node.nodeName] ?? '');
    if (node.firstChild !== null) {
      node = node.firstChild;
      continue;
    }
    while (node !== null && node !== root && node.nextSibling === null) {
      if (endsBlock.has(node.nodeName)) pieces.push('\n');
      node = node.parentNode;
    }
    if (node === null || node === root) break;
    if (endsBlock.has(node.nodeName)) pieces.push('\n');
    node = node.nextSibling;
  }
  return tidyLines(pieces.join(''));
}
