import type { Endpoint, EndpointRoute, RequestIdentity } from '../shared/endpoint.ts';
import { carriers } from '../shared/open-api-parts.ts';
import { wordingOf } from '../shared/wording.ts';
import type { FileServices } from './file-services.ts';
import { serveFiles } from './serve-files.ts';

const methods = ['GET', 'POST', 'DELETE'] as const;
/** What lies below is found by `serve-files.ts`. */
const paths = ['/v1/files', '/v1/files/*', '/v1/vector_stores', '/v1/vector_stores/*'];

/** Whatever body comes with it is not read. */
const cancelPath = '/v1/vector_stores/:store/file_batches/:batch/cancel';

function operation(): object {
  return {
    summary: 'Files and vector stores of the caller, as docs/guide/files.md describes them',
    security: carriers,
    responses: { 200: { description: 'As the vendor answers it.' }, 404: { description: "Unknown, or another user's." } },
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
