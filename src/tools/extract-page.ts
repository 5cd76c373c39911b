import { decodeText } from './decode-text.ts';
import { readArticle } from './read-article.ts';
import { scanHtml, tidyLines } from './scan-html.ts';

/** A file to read: its bytes, and the type that its server names. */
export type RawPage = { readonly bytes: Uint8Array; readonly mediaType: PageType; readonly charset: string | undefined };

/** `unknown`: the server names no useful type. */
export type PageType = 'html' | 'text' | 'pdf' | 'unknown';

/** The content of a page, as plain text. */
export type ExtractedPage = { readonly title?: string; readonly text: string; readonly date?: string };

/**
 * Larger pages are not built; their text is read without its structure. Real articles have a few thousand elements with
 * a depth of about 30.
 */
const elementsMax = 20_000;
const depthMax = 150;
/** If an article is so much shorter than all text of a page, the page is not an article. */
const articleShareMin = 0.1;
const articleCharactersMin = 200;
/** More than any model receives from a page. */
const charactersMax = 1_000_000;
const pdfPagesMax = 500;

/**
 * Reads a page. A quick reading comes first and is passed to `onDraft`; it remains if the thorough reading takes too
 * long.
 * @returns undefined if the content cannot be read as text
 */
export async function extractPage(page: RawPage, onDraft: (draft: ExtractedPage) => void): Promise<ExtractedPage | undefined> {
  if (isPdf(page)) return await readPdf(page.bytes);
  const text = decodeText(page.bytes, page.charset);
  if (text === undefined) return undefined;
  const isHtml =
    page.mediaType === 'html' || (page.mediaType === 'unknown' && /^\s*<(?:!doctype\s+html|html|head|body)\b/i.test(text.slice(0, 1000)));
  return isHtml ? readHtml(text, onDraft) : { text: tidyEnds(text) };
}

function readHtml(html: string, onDraft: (draft: ExtractedPage) => void): ExtractedPage {
  const { elements, depth, ...scanned } = scanHtml(html);
  const draft = describe(scanned.title, scanned.text, scanned.date);
  if (elements > elementsMax || depth > depthMax) return draft;
  onDraft(draft);
  const article = tryReadArticle(html);
  const enough = Math.max(articleCharactersMin, scanned.text.length * articleShareMin);
  if (article === undefined || article.text.length < Math.min(enough, scanned.text.length / 2)) return draft;
  return describe(article.title ?? scanned.title, article.text, article.date ?? scanned.date);
}

/** Both libraries throw for some malformed pages. */
function tryReadArticle(html: string): ReturnType<typeof readArticle> {
  try {
    return readArticle(html);
  } catch {
    // The reading without structure remains.
    return undefined;
  }
}

function describe(title: string | undefined, text: string, date: string | undefined): ExtractedPage {
  return {
    ...(title === undefined ? {} : { title: title.slice(0, 500) }),
    text: text.slice(0, charactersMax),
    ...(date === undefined ? {} : { date: date.slice(0, 60) }),
  };
}

function tidyEnds(text: string): string {
  return text
    .replace(/^\uFEFF/, '')
    .trim()
    .slice(0, charactersMax);
}

/** Whether it is a PDF, by its server's type or by its first bytes. */
export function isPdf({ bytes, mediaType }: RawPage): boolean {
  return mediaType === 'pdf' || Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '%PDF-';
}

async function readPdf(bytes: Uint8Array): Promise<ExtractedPage | undefined> {
  // Half a megabyte of code, loaded with the first PDF.
  const { getDocumentProxy, extractText, getMeta } = await import('unpdf');
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { stopAtErrors: false, verbosity: 0 });
  if (pdf.numPages > pdfPagesMax) return undefined;
  const { text } = await extractText(pdf, { mergePages: false });
  const { info } = await getMeta(pdf);
  const title: unknown = info['Title'];
  const whole = tidyLines(text.join('\n\n'));
  return whole === '' ? undefined : describe(typeof title === 'string' && title !== '' ? title : undefined, whole, undefined);
}
