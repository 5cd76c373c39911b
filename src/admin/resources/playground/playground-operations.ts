import { type Static, Type } from 'typebox';

import type { AccessLimits } from '../../../accounts/access-limits.ts';
import type { AccountsStore } from '../../../accounts/accounts-store.ts';
import { findUserNamed } from '../../../accounts/user-query.ts';
import { isListed } from '../../../accounts/is-listed.ts';
import type { ListedPlaygroundKey } from '../../../accounts/people/playground-key-store.ts';
import { playgroundLimits, type PlaygroundKeys } from '../../../accounts/people/playground-keys.ts';
import { maySee } from '../../../accounts/people/principal.ts';
import type { Sessions } from '../../../accounts/people/sessions.ts';
import { captureLimits } from '../../../content/captures/capture.ts';
import { orderCapture, readWires } from '../../../content/captures/manage-captures.ts';
import { instant, nullable, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Answer, Operation, StreamAnswer } from '../../operation.ts';
import { AdminProblem, invalidField, notFound } from '../../problem.ts';
import { captureSchema, type CaptureServices, encodeCapture, wiresSchema } from '../captures/capture-operations.ts';
import { headersToBrowser } from './passing-headers.ts';
import { listNamed } from '../models/list-named.ts';
import { type ControlServices, listLiveNodes } from '../nodes/live-nodes.ts';
import { type PlaygroundRelay, relayLimitsDefault } from './playground-relay.ts';
import { framesAsEvents } from './playground-sockets.ts';
import { writeSnippets } from './snippets.ts';

export type PlaygroundServices = CaptureServices &
  ControlServices & {
    readonly sessions: Pick<Sessions, 'list'>;
    readonly accounts: Pick<AccountsStore, 'queryApiKeys' | 'queryUsers' | 'listTeams' | 'readOrganization'>;
    readonly playgroundKeys: PlaygroundKeys;
    readonly playgroundRelay: PlaygroundRelay;
  };
type Context = AdminContext<PlaygroundServices>;

const spendUsdMax = 1000;
const captureMinutes = 60;

const keySchema = record(
  {
    id: Type.String(),
    user: Type.String(),
    name: Type.String(),
    created_at: Type.String(),
    expires_at: Type.String({ description: 'The key also ends with the session.' }),
  },
  'A key for the calls of the playground. Its secret never leaves the server.',
);

function encodeKey({ keyId, userName, name, createdAtMs, expiresAtMs }: ListedPlaygroundKey): Static<typeof keySchema> {
  return { id: keyId, user: userName, name, created_at: instant(createdAtMs), expires_at: instant(expiresAtMs) };
}

/** @throws AdminProblem `conflict` for a caller without a session */
function sessionOf({ sessionId }: Context['principal']): string {
  if (sessionId !== undefined) return sessionId;
  throw new AdminProblem('conflict', 'The playground belongs to a session. With an admin token, make a key by POST /api/v1/keys.');
}

/** A key of the caller's session. @throws AdminProblem `not_found` */
async function findKey({ services, principal }: Context, id: string): Promise<ListedPlaygroundKey> {
  const keys = await services.playgroundKeys.list(sessionOf(principal));
  const key = keys.find(({ keyId, userName }) => keyId === id && maySee(principal.users, userName));
  if (key === undefined) throw notFound('key of this id in the playground of this session');
  return key;
}

const listKeys = operation({
  id: 'playground.keys',
  method: 'GET',
  path: '/playground/keys',
  summary: 'The playground keys of this session, newest first',
  access: 'playground:use',
  reply: pageSchema(keySchema),
  handle: async (_input, { services, principal, nowMs }: Context) => {
    const keys = await services.playgroundKeys.list(sessionOf(principal));
    const items = keys.filter(({ userName }) => maySee(principal.users, userName)).map(encodeKey);
    return { body: { items, next_cursor: null, as_of: instant(nowMs()) } };
  },
});

const createKey = operation({
  id: 'playground.create_key',
  method: 'POST',
  path: '/playground/keys',
  summary: 'Makes a key for the calls of this session. Its secret stays on the server, and its wires are kept for an hour',
  access: 'playground:use',
  status: 201,
  body: request({
    user: Type.String({ minLength: 1, maxLength: 256, description: 'The user who pays.' }),
    limits_of: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'The id of a key whose limits apply too, except its addresses.' }),
    ),
    spend_total_usd: Type.String({
      pattern: '^(?:0|[1-9][0-9]{0,3})(?:\\.[0-9]{1,9})?$',
      description: `The most that its calls may cost in all, at most ${spendUsdMax}.`,
      examples: ['1'],
    }),
  }),
  reply: keySchema,
  handle: async ({ body }, context: Context) => {
    const { services, principal, change } = context;
    const session = await findSession(context);
    const userName = body.user.normalize('NFC');
    if ((await findUserNamed(services.accounts, principal.users, userName)) === undefined) throw notFound('user of this name');
    if (Number(body.spend_total_usd) > spendUsdMax)
      throw invalidField(
        '/spend_total_usd',
        'maximum',
        `The field spend_total_usd must be at most ${spendUsdMax}; got ${body.spend_total_usd}.`,
      );
    const limits = body.limits_of === undefined ? {} : await readLimits(context, body.limits_of);
    const author = change();
    const order = { session, userName, limits, spendTotal: leastUsd(body.spend_total_usd, limits.spendTotal) };
    const key = await services.playgroundKeys.create(order, author);
    if (key === undefined)
      throw new AdminProblem('conflict', `A session has at most ${playgroundLimits.keysPerSession} playground keys: end one first.`);
    const named = { id: key.keyId, name: key.name, userName };
    const capture = { id: services.newId('cap'), key: named, calls: captureLimits.calls, durationMs: captureMinutes * 60_000 };
    await orderCapture(services.captures, capture, author);
    return { body: encodeKey(key), location: `/playground/keys/${key.keyId}` };
  },
});

/** The session itself, which says how long it lasts. @throws AdminProblem */
async function findSession({ services, principal }: Context) {
  const id = sessionOf(principal);
  const { personId } = principal;
  if (personId === undefined)
    throw new AdminProblem('conflict', 'The playground is for people: a session of an API key has its key already.');
  const session = (await services.sessions.list(personId)).find((each) => each.id === id);
  if (session === undefined) throw new AdminProblem('unauthenticated', 'The session has ended: sign in again.');
  return session;
}

/** The limits of a key that the caller may see. @throws AdminProblem `not_found` */
async function readLimits({ services, principal }: Context, id: string): Promise<AccessLimits> {
  const [key] = await services.accounts.queryApiKeys({ users: principal.users, ids: [id], order: 'oldest', limit: 1 });
  if (key === undefined) throw notFound('key of this id');
  return key.limits ?? {};
}

function leastUsd(asked: string, other: string | undefined): string {
  return other !== undefined && Number(other) < Number(asked) ? other : asked;
}

const idParams = record({ id: Type.String({ maxLength: 64 }) });

const endKey = operation({
  id: 'playground.end_key',
  method: 'DELETE',
  path: '/playground/keys/{id}',
  summary: 'Ends a playground key of this session; its calls stay in the books',
  access: 'playground:use',
  status: 204,
  params: idParams,
  handle: async ({ params }, context: Context): Promise<Answer<undefined>> => {
    const { keyId, sessionId } = await findKey(context, params.id);
    if (!(await context.services.playgroundKeys.end(sessionId, keyId, context.change()))) throw notFound('key of this id');
    return { body: undefined };
  },
});

const captureKey = operation({
  id: 'playground.capture',
  method: 'POST',
  path: '/playground/keys/{id}/captures',
  summary: 'Keeps the wires of the next calls of a playground key, when those of its first hour are over',
  access: 'playground:use',
  status: 201,
  params: idParams,
  reply: captureSchema,
  handle: async ({ params }, context: Context) => {
    const { services, change, nowMs } = context;
    const { keyId: id, name, userName } = await findKey(context, params.id);
    const order = {
      id: services.newId('cap'),
      key: { id, name, userName },
      calls: captureLimits.calls,
      durationMs: captureMinutes * 60_000,
    };
    const capture = await orderCapture(services.captures, order, change());
    if (capture === undefined) throw new AdminProblem('conflict', 'The wires of this key are being kept already.');
    return { body: encodeCapture(capture, [], nowMs()) };
  },
});

const getWires = operation({
  id: 'playground.wires',
  method: 'GET',
  path: '/playground/calls/{id}/wires',
  summary: 'The four wires of a call that this session made in the playground; each reading is a row of the audit log',
  access: 'playground:use',
  params: record({ id: Type.String({ maxLength: 200 }) }),
  reply: wiresSchema,
  handle: async ({ params }, { services, principal, change, nowMs }: Context) => {
    const { id: callId } = params;
    const own = new Set((await services.playgroundKeys.list(sessionOf(principal))).map(({ keyId }) => keyId));
    const captures = await services.captures.listCaptures({ users: principal.users, nowMs: nowMs() });
    const isOwn = captures.some(({ keyId, kept }) => own.has(keyId) && kept.some((call) => call.callId === callId));
    const parts = { store: services.captures, sealer: services.wireSealer() };
    const wires = isOwn ? await readWires(parts, { callId, users: principal.users }, change()) : undefined;
    if (wires === undefined) throw notFound('kept call of this id of this session: wires are there a moment after the end of a call');
    return { body: wires };
  },
});

const listModels = operation({
  id: 'playground.models',
  method: 'GET',
  path: '/playground/models',
  summary: 'The models that calls of a user may name in the playground, by their names, with what they do',
  access: 'playground:use',
  query: record({ user: Type.String({ maxLength: 256, description: 'The user who would pay.' }) }),
  reply: pageSchema(
    record({
      name: Type.String(),
      kinds: Type.Array(Type.String(), { description: 'Empty if unknown.' }),
      passes: Type.Array(Type.String(), { description: 'The interfaces of chats that it serves without translation.' }),
    }),
  ),
  handle: async ({ query }, context: Context) => {
    const { services, principal, nowMs } = context;
    const user = await findUserNamed(services.accounts, principal.users, query.user);
    if (user === undefined) throw notFound('user of this name');
    const team = (await services.accounts.listTeams()).find(({ name }) => name === user.team);
    const levels = [user.limits, team?.limits, (await services.accounts.readOrganization()).limits];
    const models = listNamed(await listLiveNodes(context)).filter(
      ({ name }) => !name.endsWith('*') && levels.every((limits) => isListed(limits?.models, name)),
    );
    const items = models.map(({ name, kinds, targets: [first, ...others] }) => ({
      name,
      kinds: [...kinds],
      passes: (first?.dialects ?? []).filter((spoken) => others.every(({ dialects }) => dialects.includes(spoken))),
    }));
    return { body: { items, next_cursor: null, as_of: instant(nowMs()) } };
  },
});

/** @throws AdminProblem `conflict` */
function secretOf({ playgroundKeys }: PlaygroundServices, key: ListedPlaygroundKey): string {
  const secret = playgroundKeys.secretOf(key);
  if (secret !== undefined) return secret;
  throw new AdminProblem('conflict', 'The secret of the key was sealed with another WEIR_PROOF_KEY: make a new key.');
}

/** Passes a request to the gateway, with the secret of a key of this session. */
function relay(method: 'GET' | 'POST' | 'DELETE') {
  return operation({
    id: `playground.relay_${method.toLowerCase()}`,
    method,
    path: '/playground/relay/{path}',
    summary: `Passes a ${method} to the gateway with the playground key that the header X-Weir-Playground-Key names`,
    access: 'playground:use',
    params: record({ path: Type.String({ description: 'Path and query of an interface of the gateway: `v1/messages`.' }) }),
    streams: ['application/json', 'text/event-stream', 'application/octet-stream'],
    passes: { waitMsMax: relayLimitsDefault.silenceMs },
    handle: async (_input, context: Context): Promise<StreamAnswer> => {
      const { services, principal, passed, signal } = context;
      if (passed === undefined) throw new Error('A relay needs the request itself.');
      const sessionId = sessionOf(principal);
      const named = passed.headers['x-weir-playground-key'];
      if (typeof named !== 'string')
        throw new AdminProblem('invalid_request', 'The header X-Weir-Playground-Key must have the id of a key of POST /playground/keys.');
      const secret = secretOf(services, await findKey(context, named));
      const { status, headers, body } = await services.playgroundRelay.send(passed, { sessionId, secret }, signal);
      return { stream: body, contentType: headers['content-type'], status, headers: headersToBrowser(headers) };
    },
  });
}

async function* whole(text: string): AsyncGenerator<string> {
  yield text;
}

const socket = operation({
  id: 'playground.socket',
  method: 'POST',
  path: '/playground/sockets/responses',
  summary: 'Sends a message on a WebSocket of Responses to the gateway; the frames that answer it are events of a stream',
  access: 'playground:use',
  bodyBytesMax: relayLimitsDefault.requestBytesMax,
  body: request({
    key: Type.String({ maxLength: 64, description: 'The id of a playground key of this session.' }),
    connection: Type.String({
      pattern: '^[A-Za-z0-9_-]{1,64}$',
      description: 'A name for the connection, which stays open for the next message. A new name opens one.',
    }),
    message: Type.String({ minLength: 1, description: 'The text of the frame: JSON with the type response.create.' }),
  }),
  streams: ['text/event-stream', 'application/json'],
  handle: async ({ body: { key: id, connection, message: text } }, context: Context): Promise<StreamAnswer> => {
    const { services, principal, signal } = context;
    const sessionId = sessionOf(principal);
    const secret = secretOf(services, await findKey(context, id));
    const answer = await services.playgroundRelay.converse({ connection: `${id} ${connection}`, text }, { sessionId, secret }, signal);
    if ('frames' in answer)
      return { stream: framesAsEvents(answer.frames), contentType: 'text/event-stream', headers: { 'x-accel-buffering': 'no' } };
    const { status, headers, body } = answer;
    return { stream: whole(body), contentType: headers['content-type'], status, headers: headersToBrowser(headers) };
  },
});

const snippet = operation({
  id: 'playground.snippet',
  method: 'POST',
  path: '/playground/snippet',
  summary: 'A request as lines for curl, Go, Python and TypeScript, with the key as the variable WEIR_API_KEY',
  access: 'playground:use',
  body: request({
    method: Type.Optional(Type.Enum(['GET', 'POST', 'DELETE'])),
    socket: Type.Optional(Type.Boolean({ description: 'Whether the body is a message of a WebSocket at the path.' })),
    path: Type.String({ minLength: 1, maxLength: 2048, description: 'Path and query of the gateway.', examples: ['/v1/messages'] }),
    body: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'Of a form, members that name files are names of files.' }),
    ),
  }),
  reply: record({
    curl: nullable(Type.String({ description: 'Null for a message of a WebSocket.' })),
    websocat: nullable(Type.String({ description: 'For a message of a WebSocket alone.' })),
    go: Type.Union([Type.String(), Type.Null()], { description: "With Go's own HTTP client; null for a form." }),
    python: Type.Union([Type.String(), Type.Null()], { description: 'With the official SDK of the interface; null if it has none.' }),
    typescript: Type.Union([Type.String(), Type.Null()]),
  }),
  handle: async ({ body: { method, socket: isMessage = false, path, body } }, { services }: Context) => {
    const address = services.playgroundRelay.address() ?? 'http://127.0.0.1:8080';
    const written = writeSnippets({ address, method: method ?? (body === undefined ? 'GET' : 'POST'), target: path, body, isMessage });
    if (written === undefined)
      throw invalidField('/path', 'pattern', 'The field path must be a path of the gateway, such as /v1/messages.');
    const { curl, websocat, go, python, typescript } = written;
    return {
      body: { curl: curl ?? null, websocat: websocat ?? null, go: go ?? null, python: python ?? null, typescript: typescript ?? null },
    };
  },
});

export const playgroundOperations: readonly Operation<PlaygroundServices>[] = [
  listKeys,
  createKey,
  endKey,
  captureKey,
  getWires,
  listModels,
  relay('GET'),
  relay('POST'),
  relay('DELETE'),
  socket,
  snippet,
];
