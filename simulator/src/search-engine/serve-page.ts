import type { IncomingMessage, ServerResponse } from 'node:http';
import { allDocuments } from './all-documents.ts';
import type { SearchDocument } from './document.ts';
import { specialPages } from './special-pages.ts';

const byAddress = new Map(allDocuments.map((document) => [`${document.site}${document.path}`, document]));

/** The address of a page, given the port of the server. */
export function addressOf({ site, path }: SearchDocument, port: number): string {
  return `http://${site}.localhost:${port}${path}`;
}

/** The site that a request asks for by its Host header; undefined for the service itself. */
export function siteOf(request: IncomingMessage): string | undefined {
  return /^([a-z0-9-]{1,63})\.localhost(?::\d+)?$/i.exec(request.headers.host ?? '')?.[1]?.toLowerCase();
}

/** Answers with a page of the simulated web. */
export function servePage(site: string, path: string, response: ServerResponse, port: number): void {
  const special = specialPages[`${site}${path}`];
  if (special !== undefined) return special(response, port);
  const document = byAddress.get(`${site}${path}`);
  const headers = { 'content-type': 'text/html; charset=utf-8' };
  if (document === undefined)
    return void response.writeHead(404, headers).end('<title>Not found</title><p>There is no such simulated page.</p>');
  response.writeHead(200, headers).end(renderPage(document, port));
}

function renderPage(document: SearchDocument, port: number): string {
  const { title, text, date, language, site } = document;
  const others = allDocuments.filter((other) => other.site === site && other !== document);
  return `<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><title>${escapeHtml(title)} (simulated page)</title>
<meta property="article:published_time" content="${date}"></head>
<body><nav><a href="/">${site}</a> <a href="/about">About</a> <a href="/subscribe">Subscribe</a></nav>
<main><article><h1>${escapeHtml(title)}</h1>
<p>This is a simulated page, written for tests.</p>
${text
  .split('\n\n')
  .map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`)
  .join('\n')}
</article></main>
<aside><h2>More</h2><ul>${others.map((other) => `<li><a href="${addressOf(other, port)}">${escapeHtml(other.title)}</a></li>`).join('')}</ul></aside>
<footer>Cookie settings. Imprint. ${site}.localhost</footer></body></html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
