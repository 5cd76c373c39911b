import type { Endpoint, EndpointRoute, RequestIdentity } from '../shared/endpoint.ts';
import { carriers } from '../shared/open-api-parts.ts';
import { wordingOf } from '../shared/wording.ts';
import type { FileServices } from './file-services.ts';
import { serveFiles } from './serve-files.ts';

const methods = ['GET', 'POST', 'DELETE'] as const;
/** `serve-files.ts` routes the paths below these. */
const paths = ['/v1/files', '/v1/files/*', '/v1/vector_stores', '/v1/vector_stores/*'];

/** Its body is not read. */
const cancelPath = '/v1/vector_stores/:store/file_batches/:batch/cancel';

function operation(): object {
  return {
    summary: 'Files and vector stores of the caller (docs/guide/files.md)',
    security: carriers,
    responses: { 200: { description: 'The answer in the format of the vendor.' }, 404: { description: "Unknown, or another user's." } },
  };
}

function route(method: (typeof methods)[number], path: string, identifiedBy: RequestIdentity): EndpointRoute<FileServices> {
  return { method, path, identifiedBy, openApi: { operation, rest: 'rest' }, serve: serveFiles };
}

/** Files and vector stores. */
export const filesEndpoint: Endpoint<FileServices> = {
  name: 'files',
  routes: methods.flatMap((method) => [...paths.map((path) => route(method, path, 'body')), route(method, cancelPath, 'path')]),
  voice: { owns: (path) => /^\/v1\/(?:files|vector_stores)(?:\/|$)/.test(path), wording: () => wordingOf('openai-responses') },
};
