import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { enter } from '../../admission/enter.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import { writeJson } from '../shared/write-json.ts';
import type { FileServices } from './file-services.ts';
import { readRequest } from '../../admission/read-request.ts';
import { createFile, deleteFile, listFiles, sendContent, showFile } from './file-routes.ts';
import type { FilesContext, FilesHandler } from './files-context.ts';
import {
  addStoreFile,
  cancelBatch,
  changeStoreFile,
  createBatch,
  listBatchFiles,
  listStoreFiles,
  removeStoreFile,
  showBatch,
  showStoreFile,
  showStoreFileText,
} from './store-file-routes.ts';
import { changeStore, createStore, deleteStore, listStores, searchStore, showStore } from './vector-store-routes.ts';

type Methods = Readonly<Partial<Record<'GET' | 'POST' | 'DELETE', FilesHandler>>>;

/** The routes below /v1; a star matches an id. */
const routes: Readonly<Record<string, Methods>> = {
  files: { GET: listFiles, POST: createFile },
  'files/*': { GET: showFile, DELETE: deleteFile },
  'files/*/content': { GET: sendContent },
  vector_stores: { GET: listStores, POST: createStore },
  'vector_stores/*': { GET: showStore, POST: changeStore, DELETE: deleteStore },
  'vector_stores/*/search': { POST: searchStore },
  'vector_stores/*/files': { GET: listStoreFiles, POST: addStoreFile },
  'vector_stores/*/files/*': { GET: showStoreFile, POST: changeStoreFile, DELETE: removeStoreFile },
  'vector_stores/*/files/*/content': { GET: showStoreFileText },
  'vector_stores/*/file_batches': { POST: createBatch },
  'vector_stores/*/file_batches/*': { GET: showBatch },
  'vector_stores/*/file_batches/*/cancel': { POST: cancelBatch },
  'vector_stores/*/file_batches/*/files': { GET: listBatchFiles },
};

/** The paths and methods without their prefix. A suite checks that each of them separates users. */
export const fileRoutes: readonly { readonly method: string; readonly path: string }[] = Object.entries(routes).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => ({ method, path })),
);

/**
 * Serves /v1/files and /v1/vector_stores for an authenticated caller, who only finds objects of the own user.
 * @throws GatewayError
 */
export async function serveFiles(gateway: FileServices, http: EndpointRequest): Promise<void> {
  const { request, response, callId, target } = http;
  const entered = await enter(gateway, http, chatDialects['openai-responses'].voice);
  if (entered === undefined) return;
  const { caller, admission } = entered;
  const { handler, ids } = findHandler(request.method ?? 'GET', target.path);
  const { files } = gateway;
  if (files === undefined) throw new GatewayError('route_not_found', 'this gateway stores no files');
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort());
  const context: FilesContext = {
    gateway,
    files,
    caller,
    admission,
    request,
    response,
    callId,
    query: target.query,
    signal: disconnected.signal,
    readBody: async () => {
      const isEmpty =
        request.headers['content-length'] === '0' ||
        (request.headers['content-length'] ?? request.headers['transfer-encoding']) === undefined;
      if (isEmpty) return {};
      return (await readRequest(request, gateway.settings().limits, (held) => admission.holdBytes(held))).body;
    },
  };
  const answer = await handler(context, ids);
  if (answer !== undefined) writeJson(http, 200, answer);
}

/**
 * Finds the handler of a path. Every second segment is an id.
 * @throws GatewayError `route_not_found` or `method_not_allowed`
 */
function findHandler(method: string, path: string): { readonly handler: FilesHandler; readonly ids: readonly string[] } {
  const parts = path.replace(/\/$/, '').split('/').slice(2);
  const pattern = parts.map((part, index) => (index % 2 === 1 && part !== '' ? '*' : part)).join('/');
  const methods = Object.hasOwn(routes, pattern) ? routes[pattern] : undefined;
  if (methods === undefined) throw new GatewayError('route_not_found', `there is nothing at ${path.slice(0, 200)}`);
  const handler = method === 'GET' || method === 'POST' || method === 'DELETE' ? methods[method] : undefined;
  if (handler === undefined) {
    const allow = Object.keys(methods).join(', ');
    throw new GatewayError('method_not_allowed', `${path.slice(0, 200)} does not take ${method}; it takes ${allow}`, {
      headers: { allow },
    });
  }
  return { handler, ids: parts.filter((_, index) => index % 2 === 1).map(decodeId) };
}

function decodeId(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Invalid percent-encoding is answered like an unknown id.
    return part;
  }
}
