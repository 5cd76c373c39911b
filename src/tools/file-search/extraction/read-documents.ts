import mammoth from 'mammoth';
import { parseHTML } from 'linkedom';
import { getDocumentProxy, getResolvedPDFJS } from 'unpdf';

import { checkArchive } from './check-archive.ts';
import { scanHtml } from '../../scan-html.ts';
import { ExtractionError } from './extraction-error.ts';

/** The maximum of pages of a PDF. */
const pagesMax = 10_000;

/**
 * Loads the library's reader with the first PDF. That takes most of a second on a busy machine, which must not count as
 * time of the file.
 */
export async function preparePdf(): Promise<void> {
  await getResolvedPDFJS();
}

/** Reads the text of a PDF, with a blank line between pages. */
export async function readPdf(bytes: Uint8Array, charactersMax: number): Promise<string> {
  const document = await getDocumentProxy(bytes, { disableFontFace: true, useSystemFonts: false, verbosity: 0 });
  if (document.numPages > pagesMax) throw new ExtractionError('invalid_file', `The PDF has more than ${pagesMax} pages.`);
  const pages: string[] = [];
  let characters = 0;
  for (let number = 1; number <= document.numPages && characters <= charactersMax; number++) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    const text = items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('');
    pages.push(text);
    characters += text.length;
    page.cleanup();
  }
  return pages.join('\n\n');
}

/** Reads the text of a Word document. */
export async function readDocx(bytes: Uint8Array): Promise<string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  checkArchive(buffer);
  const { value } = await mammoth.extractRawText({ buffer });
  return value;
}

const unseen = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'SVG', 'IFRAME', 'OBJECT']);
const inline = new Set(
  'A ABBR B BDI BDO CITE CODE DATA DFN EM I KBD LABEL MARK Q S SAMP SMALL SPAN STRONG SUB SUP TIME U VAR FONT'.split(' '),
);

type HtmlNode = {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly nodeValue: string | null;
  readonly childNodes: Iterable<HtmlNode>;
};

const textNode = 3;

/**
 * Building a page costs the square of its depth. A page that is deeper than any real page is read without its
 * structure.
 */
const depthMax = 200;

/**
 * Reads the visible text of a page. It walks with a stack of its own, because a page may be nested deeper than the call
 * stack.
 */
export function readHtml(html: string): string {
  const scanned = scanHtml(html);
  if (scanned.depth > depthMax) return scanned.text;
  // The library's types name a DOM that this program does not have.
  const { document } = parseHTML(html) as unknown as { readonly document: HtmlNode };
  const pieces: string[] = [];
  const waiting: (HtmlNode | string)[] = [document];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (typeof node === 'string') {
      pieces.push(node);
    } else if (node.nodeType === textNode) {
      pieces.push((node.nodeValue ?? '').replaceAll(/\s+/g, ' '));
    } else {
      const name = node.nodeName.toUpperCase();
      if (unseen.has(name)) continue;
      const border = inline.has(name) ? '' : '\n';
      waiting.push(border, ...Array.from(node.childNodes).toReversed());
      if (border !== '') pieces.push(border);
    }
  }
  return pieces
    .join('')
    .replaceAll(/ *\n */g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}
