import { randomBytes } from 'node:crypto';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { AdminProblem } from '../problem.ts';
import { mayHaveSession } from '../server/session-cookie.ts';
import type { ConsoleFiles } from './console-files.ts';

/** Paths below these are never pages. */
const otherPaths = /^\/(?:api|health|problems|oidc|assets)(?:\/|$)/;
const yearSeconds = 31_536_000;
const indexPath = '/index.html';
const htmlType = 'text/html; charset=utf-8';

/**
 * The policy of pages (requirement S5). The nonce is for the style element that the editor of long texts makes.
 * @param nonce 128 random bits, new for each page
 */
function pagePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

const missing = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Weir</title>
<h1>The pages of the console are not built</h1>
<p>The admin API works. To build the pages, run in the folder of Weir: <code>npm run console:build</code>, and load this page again.</p>
</html>
`;

export type PageRoutes = {
  /** Whether a request that no route answers is one for a page or a file of the console. */
  readonly isPage: (request: FastifyRequest) => boolean;
};

/**
 * The console's files, and its pages. Every address that a browser opens and that is nothing else shows the console,
 * which reads the address itself.
 */
export function addPageRoutes(app: FastifyInstance, files: ConsoleFiles): PageRoutes {
  app.setNotFoundHandler(async (request, reply) => {
    const path = pathOf(request);
    return isFilePath(path) ? await sendFile(files, path, request, reply) : await sendPage(files, request, reply);
  });
  return {
    isPage: (request) => {
      if (request.method !== 'GET' && request.method !== 'HEAD') return false;
      const path = pathOf(request);
      return isFilePath(path) || (!otherPaths.test(path) && request.headers.accept?.includes('text/html') === true);
    },
  };
}

/** Images, scripts and styles: what pages ask for. */
const isFilePath = (path: string): boolean => path.startsWith('/assets/') || /^\/[\w-]+\.svg$/.test(path);
const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0] ?? '';

/** @throws AdminProblem `unknown_path` */
async function sendFile(files: ConsoleFiles, path: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const file = await files.read(path, String(request.headers['accept-encoding'] ?? ''));
  if (file === undefined) throw new AdminProblem('unknown_path', 'The console has no file of this name; load the page again.');
  // Names of files in assets have a digest of their content.
  const isHashed = path.startsWith('/assets/');
  void reply
    .code(200)
    .header('cache-control', isHashed ? `public, max-age=${yearSeconds}, immutable` : 'no-cache')
    .header('vary', 'accept-encoding')
    .type(file.type);
  if (file.encoding !== undefined) void reply.header('content-encoding', file.encoding);
  return reply.send(file.body);
}

/**
 * The page. Its theme is written into it, so that it does not change colour after the first paint. So is whether there
 * may be a session, so that the page need not ask.
 */
async function sendPage(files: ConsoleFiles, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const index = await files.read(indexPath, '');
  const nonce = randomBytes(16).toString('base64');
  void reply.type(htmlType).header('content-security-policy', pagePolicy(nonce)).header('cache-control', 'no-store');
  if (index === undefined) return reply.code(503).send(missing);
  const theme = request.cookies['weir_theme'];
  const html = index.body
    .toString()
    .replace('data-theme="system"', `data-theme="${theme === 'light' || theme === 'dark' ? theme : 'system'}"`)
    .replace('data-session="perhaps"', `data-session="${mayHaveSession(request) ? 'perhaps' : 'none'}"`)
    .replace('</head>', `<meta property="csp-nonce" nonce="${nonce}"></head>`);
  return reply.code(200).send(html);
}
