import type { ChatRoute } from './chat/chat-route.ts';
import type { IncomingMessage } from 'node:http';

import findMyWay, { type HTTPMethod } from 'find-my-way';

import type { DialectId } from '../../dialects/dialect-id.ts';
import type { CallbackAction } from './account/serve-callbacks.ts';
import type { AudioOperation } from '../../dialects/openai-audio/audio-formats.ts';
import type { StoredObjectRoute } from './stored-objects/stored-objects.ts';
import { type VideoAction, videoRoutes } from './videos/video-routes.ts';

/** What a path and method mean. */
export type Route =
  | ChatRoute
  | { readonly type: 'models'; readonly dialect?: DialectId }
  | { readonly type: 'model'; readonly dialect?: DialectId }
  /** Stored responses and conversations: the path names them in its parameters. */
  | { readonly type: 'stored'; readonly stored: StoredObjectRoute }
  /** Files and vector stores find their way below these paths themselves. */
  | { readonly type: 'files' }
  | { readonly type: 'embeddings' }
  | { readonly type: 'videos'; readonly action: VideoAction }
  | { readonly type: 'callbacks'; readonly action: CallbackAction }
  | { readonly type: 'audio'; readonly operation: AudioOperation }
  | { readonly type: 'receipt' }
  | { readonly type: 'quote' }
  | { readonly type: 'credits' }
  | { readonly type: 'health'; readonly probe: 'all' | 'live' | 'ready' }
  | { readonly type: 'root' };

export type RouteMatch =
  | { readonly found: true; readonly route: Route; readonly rest: string; readonly params: PathParams }
  /** Methods that the path has; none when there is no such path. */
  | { readonly found: false; readonly allowedMethods: readonly string[] };

/** Named segments of a path, decoded. */
type PathParams = Readonly<Record<string, string | undefined>>;

const versions = ['/v1', '/v1alpha', '/v1beta'] as const;

/** Every route of the gateway: the source of docs/reference/openapi and of the router. */
export const routes: readonly { readonly method: 'GET' | 'POST' | 'DELETE'; readonly path: string; readonly route: Route }[] = [
  { method: 'POST', path: '/v1/messages', route: { type: 'chat', dialect: 'anthropic-messages', operation: 'generate' } },
  { method: 'POST', path: '/v1/messages/count_tokens', route: { type: 'chat', dialect: 'anthropic-messages', operation: 'count-tokens' } },
  { method: 'POST', path: '/v1/responses', route: { type: 'chat', dialect: 'openai-responses', operation: 'generate' } },
  { method: 'POST', path: '/v1/responses/compact', route: { type: 'chat', dialect: 'openai-responses', operation: 'compact' } },
  { method: 'POST', path: '/v1/responses/input_tokens', route: { type: 'chat', dialect: 'openai-responses', operation: 'count-tokens' } },
  { method: 'POST', path: '/v1/chat/completions', route: { type: 'chat', dialect: 'openai-chat', operation: 'generate' } },
  { method: 'GET', path: '/v1/responses/:id', route: { type: 'stored', stored: { object: 'response', action: 'show' } } },
  { method: 'DELETE', path: '/v1/responses/:id', route: { type: 'stored', stored: { object: 'response', action: 'delete' } } },
  { method: 'POST', path: '/v1/responses/:id/cancel', route: { type: 'stored', stored: { object: 'response', action: 'cancel' } } },
  {
    method: 'GET',
    path: '/v1/responses/:id/input_items',
    route: { type: 'stored', stored: { object: 'response', action: 'list-input-items' } },
  },
  { method: 'POST', path: '/v1/conversations', route: { type: 'stored', stored: { object: 'conversation', action: 'create' } } },
  { method: 'GET', path: '/v1/conversations/:id', route: { type: 'stored', stored: { object: 'conversation', action: 'show' } } },
  { method: 'POST', path: '/v1/conversations/:id', route: { type: 'stored', stored: { object: 'conversation', action: 'update' } } },
  { method: 'DELETE', path: '/v1/conversations/:id', route: { type: 'stored', stored: { object: 'conversation', action: 'delete' } } },
  { method: 'GET', path: '/v1/conversations/:id/items', route: { type: 'stored', stored: { object: 'item', action: 'list' } } },
  { method: 'POST', path: '/v1/conversations/:id/items', route: { type: 'stored', stored: { object: 'item', action: 'add' } } },
  { method: 'GET', path: '/v1/conversations/:id/items/:itemId', route: { type: 'stored', stored: { object: 'item', action: 'show' } } },
  {
    method: 'DELETE',
    path: '/v1/conversations/:id/items/:itemId',
    route: { type: 'stored', stored: { object: 'item', action: 'delete' } },
  },
  ...versions.map((version) => ({ method: 'POST' as const, path: `${version}/models/*`, route: { type: 'generate-content' as const } })),
  { method: 'GET', path: '/v1/models', route: { type: 'models' } },
  { method: 'GET', path: '/v1/models/*', route: { type: 'model' } },
  { method: 'GET', path: '/v1beta/models', route: { type: 'models', dialect: 'gemini-generate-content' } },
  { method: 'GET', path: '/v1beta/models/*', route: { type: 'model', dialect: 'gemini-generate-content' } },
  { method: 'GET', path: '/v1alpha/models', route: { type: 'models', dialect: 'gemini-generate-content' } },
  { method: 'GET', path: '/v1alpha/models/*', route: { type: 'model', dialect: 'gemini-generate-content' } },
  { method: 'GET', path: '/v1/callbacks', route: { type: 'callbacks', action: 'list' } },
  { method: 'POST', path: '/v1/callbacks/:id/redeliver', route: { type: 'callbacks', action: 'send-again' } },
  { method: 'POST', path: '/v1/callbacks/secret/rotate', route: { type: 'callbacks', action: 'rotate-secret' } },
  { method: 'GET', path: '/v1/receipts/:id', route: { type: 'receipt' } },
  { method: 'POST', path: '/v1/quote', route: { type: 'quote' } },
  { method: 'GET', path: '/v1/credits', route: { type: 'credits' } },
  { method: 'POST', path: '/v1/embeddings', route: { type: 'embeddings' } },
  { method: 'POST', path: '/v1/audio/speech', route: { type: 'audio', operation: 'speech' } },
  { method: 'POST', path: '/v1/audio/transcriptions', route: { type: 'audio', operation: 'transcriptions' } },
  { method: 'POST', path: '/v1/audio/translations', route: { type: 'audio', operation: 'translations' } },
  ...(['GET', 'POST', 'DELETE'] as const).flatMap((method) =>
    ['/v1/files', '/v1/files/*', '/v1/vector_stores', '/v1/vector_stores/*'].map((path) => ({
      method,
      path,
      route: { type: 'files' as const },
    })),
  ),
  ...videoRoutes.map(({ method, path, action }) => ({ method, path, route: { type: 'videos' as const, action } })),
  { method: 'GET', path: '/health', route: { type: 'health', probe: 'all' } },
  { method: 'GET', path: '/health/live', route: { type: 'health', probe: 'live' } },
  { method: 'GET', path: '/health/ready', route: { type: 'health', probe: 'ready' } },
  { method: 'GET', path: '/', route: { type: 'root' } },
];

const routedMethods = ['GET', 'POST', 'DELETE'] as const;

/** The methods of a model, which come after its name and are only posted to. A model's own name may hold a colon too. */
const modelMethod = /(?::|%3a)(?:generateContent|streamGenerateContent|countTokens)\/?$/i;

/** Longer segments name nothing that is stored; the words for what is unknown are for them too. */
const segmentCharactersMax = 4096;

/** Builds the router. `HEAD` is answered wherever `GET` is. */
export function createRouter(): (method: string, path: string) => RouteMatch {
  const router = findMyWay({ ignoreTrailingSlash: true, caseSensitive: true, maxParamLength: segmentCharactersMax });
  const ignored = (_request: IncomingMessage): void => {};
  /** Most calls go to a plain path: one look-up finds it. */
  const plain = new Map<string, RouteMatch>();
  const plainPaths = new Set<string>();
  for (const { method, path, route } of routes) {
    router.on(method, path, ignored, route);
    if (/[*:]/.test(path)) continue;
    plain.set(`${method} ${path}`, { found: true, route, rest: '', params: {} });
    plainPaths.add(path);
  }
  const find = (method: string, path: string): ReturnType<typeof router.find> => {
    const match = router.find(method as HTTPMethod, path);
    if (match === null) return null;
    const { type } = match.store as Route;
    // A pattern also matches the paths of routes that take other methods only: nobody is called `gemini-x:generateContent`, and no response `compact`.
    if (type === 'model' && modelMethod.test(path)) return null;
    return Object.keys(match.params).length > 0 && plainPaths.has(path.replace(/\/$/, '')) ? null : match;
  };
  return (method, path) => {
    const known = plain.get(`${method} ${path}`);
    if (known !== undefined) return known;
    const match = find(method === 'HEAD' ? 'GET' : method, path);
    if (match !== null) {
      // The rest is cut from the raw path, because the router has already decoded its own copy.
      const star = match.params['*'];
      return {
        found: true,
        route: match.store as Route,
        rest: star === undefined ? '' : path.slice(path.indexOf('/models/') + '/models/'.length),
        params: match.params,
      };
    }
    const allowedMethods = routedMethods.filter((other) => {
      const allowed = find(other, path);
      return allowed !== null && ((allowed.store as Route).type !== 'generate-content' || modelMethod.test(path));
    });
    return { found: false, allowedMethods: allowedMethods.includes('GET') ? [...allowedMethods, 'HEAD'] : allowedMethods };
  };
}
