import { setTimeout as delay } from 'node:timers/promises';

import { type Static, Type } from 'typebox';

import type { AccountsStore } from '../../../accounts/accounts-store.ts';
import { maySee } from '../../../accounts/people/principal.ts';
import type { AuditStore } from '../../../audit/audit-entry.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import type { MediaStorage } from '../../../tasks/media/media-storage.ts';
import type { TaskLists } from '../../../tasks/task-lists.ts';
import type { TaskStore } from '../../../tasks/task-store.ts';
import { type VideoTask, videoPhases } from '../../../tasks/video-task.ts';
import { answerContent } from '../../content-answer.ts';
import {
  instant,
  instantQuery,
  moneySchema,
  nullable,
  optionalInstant,
  pageQuery,
  pageRowsDefault,
  pageSchema,
  record,
} from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import { answerEvents, type ServerEvent } from '../../event-stream.ts';
import type { AdminContext, Answer, Operation } from '../../operation.ts';
import { AdminProblem, notFound } from '../../problem.ts';
import type { ListServices } from '../list-services.ts';
import { readPosition } from '../read-position.ts';
import { getReceipt, type ReceiptServices } from '../receipts/receipt-operations.ts';
import { cutPage } from '../cut-page.ts';

export type VideoServices = ListServices &
  ReceiptServices & {
    readonly accounts: Pick<AccountsStore, 'queryUsers'>;
    readonly tasks: Pick<TaskLists, 'queryTasks'> & Pick<TaskStore, 'findTask' | 'findTaskOwner' | 'deleteTask' | 'mediaBytes'>;
    readonly audit: Pick<AuditStore, 'recordAction'>;
    /** The storage of finished videos, opened at its first use. */
    readonly media: () => Promise<Pick<MediaStorage, 'open' | 'remove'>>;
    readonly ending: AbortSignal;
  };
type Context = AdminContext<VideoServices>;

const videoSchema = record(
  {
    id: Type.String({ examples: ['video_01k9…'] }),
    call_id: Type.String({ description: 'The call that made it.' }),
    user: Type.String(),
    key_id: Type.String(),
    key: Type.String(),
    model: Type.String({ description: 'As the client asked for it.' }),
    upstream: Type.String(),
    upstream_model: Type.String(),
    mode: Type.String(),
    phase: Type.Enum(videoPhases),
    progress: Type.Number({ description: '0 to 100.' }),
    created_at: Type.String(),
    ended_at: nullable(Type.String()),
    last_poll_at: nullable(Type.String()),
    held: { ...moneySchema, description: 'The highest cost, which is held until the end.' },
    charged: nullable({ ...moneySchema, description: 'Null until the end.' }),
    error: nullable(record({ code: Type.String(), message: Type.String() })),
    alert: nullable(record({ since: Type.String(), reason: Type.String() })),
    duration_ms: nullable(Type.Number()),
    file: nullable(record({ type: Type.String(), bytes: Type.Integer(), sha256: Type.String(), expires_at: nullable(Type.String()) })),
  },
  'A video that is made, or was. Its prompt is not shown.',
);

function encodeVideo(task: VideoTask): Static<typeof videoSchema> {
  const { error, alert, media } = task;
  return {
    id: task.id,
    call_id: task.callId,
    user: task.userName,
    key_id: task.keyId,
    key: task.keyName,
    model: task.requestedModel,
    upstream: task.upstream,
    upstream_model: task.upstreamModel,
    mode: task.mode,
    phase: task.phase,
    progress: task.progress,
    created_at: instant(task.createdAtMs),
    ended_at: optionalInstant(task.endedAtMs),
    last_poll_at: optionalInstant(task.lastPollAtMs),
    held: formatMoney(task.heldNanoUsd),
    charged: task.chargedNanoUsd === undefined ? null : formatMoney(task.chargedNanoUsd),
    error: error === undefined ? null : { code: error.code, message: error.message },
    alert: alert === undefined ? null : { since: instant(alert.sinceMs), reason: alert.reason },
    duration_ms: task.durationMs ?? null,
    file:
      media === undefined
        ? null
        : { type: media.mediaType, bytes: media.bytes, sha256: media.sha256, expires_at: optionalInstant(task.expiresAtMs) },
  };
}

const positionSchema = Type.Object({ createdAtMs: Type.Number(), id: Type.String() });
const params = record({ id: Type.String({ maxLength: 200 }) });

/** Grows with each step of a video; one that has ended has no further ones. */
const versionOfVideo = ({ phase }: VideoTask): number => videoPhases.indexOf(phase) + 1;

/** A video that the caller may see. @throws AdminProblem `not_found` */
async function findVideo({ services, principal }: Pick<Context, 'services' | 'principal'>, id: string): Promise<VideoTask> {
  const userName = await services.tasks.findTaskOwner(id);
  const isSeen = userName !== undefined && maySee(principal.users, userName);
  const task = isSeen ? await services.tasks.findTask({ userName, id }) : undefined;
  if (task === undefined) throw notFound('video of this id');
  return task;
}

export const listVideos = operation({
  id: 'videos.list',
  method: 'GET',
  path: '/videos',
  summary: 'Videos that are made or were, newest first',
  access: 'calls:read',
  query: record({
    user: Type.Optional(Type.String({ maxLength: 256 })),
    key_id: Type.Optional(Type.String({ maxLength: 64 })),
    upstream: Type.Optional(Type.String({ maxLength: 256 })),
    phase: Type.Optional(Type.Array(Type.Enum(videoPhases), { maxItems: videoPhases.length, description: 'Repeat it for "or".' })),
    alert: Type.Optional(Type.Boolean({ description: 'Only those that an operator should examine, or only others.' })),
    from: Type.Optional(instantQuery('Made at or after it.')),
    to: Type.Optional(instantQuery('Made before it.')),
    ...pageQuery,
  }),
  reply: pageSchema(videoSchema),
  handle: async ({ query }, { services, principal, nowMs }: Context) => {
    const { limit = pageRowsDefault, cursor, ...fields } = query;
    const { user, key_id, upstream, phase, alert, from, to } = fields;
    const question = { list: 'videos', users: principal.users, ...fields };
    const rows = await services.tasks.queryTasks({
      users: principal.users,
      ...(user !== undefined && { userName: user.normalize('NFC') }),
      ...(key_id !== undefined && { keyId: key_id }),
      ...(upstream !== undefined && { upstream }),
      ...(phase !== undefined && { phases: phase }),
      ...(alert !== undefined && { hasAlert: alert }),
      ...(from !== undefined && { fromMs: Date.parse(from) }),
      ...(to !== undefined && { toMs: Date.parse(to) }),
      ...(cursor !== undefined && { after: readPosition(positionSchema, services.cursors.read(question, cursor)) }),
      limit: limit + 1,
    });
    const { shown, next_cursor } = cutPage(rows, limit, (last) =>
      services.cursors.write(question, { createdAtMs: last.createdAtMs, id: last.id }),
    );
    return { body: { items: shown.map(encodeVideo), next_cursor, as_of: instant(nowMs()) } };
  },
});

const storageUsersMax = 20;

export const getStorage = operation({
  id: 'videos.storage',
  method: 'GET',
  path: '/videos/storage',
  summary: 'The bytes that the files of some users take, of videos and of images',
  access: 'calls:read',
  query: record({
    user: Type.Array(Type.String({ maxLength: 256 }), { minItems: 1, maxItems: storageUsersMax, description: 'Repeat it for several.' }),
  }),
  reply: record({
    items: Type.Array(
      record({
        user: Type.String(),
        bytes: Type.Integer(),
        bytes_max: nullable(Type.Integer({ description: 'The most that the limits of the user allow; null if there is no such limit.' })),
      }),
    ),
    as_of: Type.String(),
  }),
  handle: async ({ query }, { services, principal, nowMs }: Context) => {
    const users = [...new Set(query.user.map((user) => user.normalize('NFC')))].filter((user) => maySee(principal.users, user));
    const known = new Map(
      (await services.accounts.queryUsers({ users, limit: storageUsersMax })).map(({ name, limits }) => [name, limits]),
    );
    const items = await Promise.all(
      users.map(async (user) => ({
        user,
        bytes: await services.tasks.mediaBytes({ userName: user }),
        bytes_max: known.get(user)?.mediaBytesMax ?? null,
      })),
    );
    return { body: { items, as_of: instant(nowMs()) } };
  },
});

export const getVideo = operation({
  id: 'videos.get',
  method: 'GET',
  path: '/videos/{id}',
  summary: 'One video',
  access: 'calls:read',
  params,
  reply: videoSchema,
  handle: async ({ params: { id } }, context: Context) => {
    const task = await findVideo(context, id);
    return { body: encodeVideo(task), version: versionOfVideo(task) };
  },
});

export const deleteVideo = operation({
  id: 'videos.delete',
  method: 'DELETE',
  path: '/videos/{id}',
  summary: 'Deletes a video that has ended, with its file; its receipt stays',
  access: 'limits:write',
  status: 204,
  params,
  versionOf: async ({ id = '' }, services: VideoServices, principal) => versionOfVideo(await findVideo({ services, principal }, id)),
  handle: async ({ params: { id } }, context: Context): Promise<Answer<undefined>> => {
    const { userName } = await findVideo(context, id);
    const outcome = await context.services.tasks.deleteTask({ userName, id, change: context.change() });
    if (outcome.type === 'unknown') throw notFound('video of this id');
    if (outcome.type === 'open') throw new AdminProblem('conflict', 'The video has not ended; it cannot be deleted yet.');
    if (outcome.mediaKey !== undefined) await (await context.services.media()).remove(outcome.mediaKey);
    return { body: undefined };
  },
});

export const getContent = operation({
  id: 'videos.content',
  method: 'GET',
  path: '/videos/{id}/content',
  summary: 'The file of a video, or the part of it that Range names; each reading is in the audit log',
  access: 'content:read',
  streams: ['video/mp4'],
  params,
  handle: async ({ params: { id } }, context: Context) => {
    const { services, change, signal, range, nowMs } = context;
    const { media, expiresAtMs = Infinity } = await findVideo(context, id);
    if (media === undefined || expiresAtMs <= nowMs()) throw notFound('file of this video');
    const { key, mediaType, bytes, sha256 } = media;
    const storage = await services.media();
    await services.audit.recordAction({ action: 'videos.read_content', subject: `video:${id}` }, change());
    const open = (part: Parameters<typeof storage.open>[1]) => storage.open(key, part, signal);
    return await answerContent({ id, mediaType, bytes, tag: sha256, open }, range === undefined ? {} : { range });
  },
});

const getVideoReceipt = operation({
  id: 'videos.receipt',
  method: 'GET',
  path: '/videos/{id}/receipt',
  summary: 'What a video cost, and why; 404 until it has ended',
  access: 'calls:read',
  params,
  reply: getReceipt.schemas.reply ?? Type.Unknown(),
  handle: async ({ params: { id } }, context: Context) => {
    const { callId } = await findVideo(context, id);
    const answer = await getReceipt.run({ params: { id: callId }, query: {}, body: undefined }, context);
    if ('stream' in answer) throw new Error('A receipt is not a stream.');
    return answer;
  },
});

/** Time between two looks at a video that somebody follows. */
const lookEveryMs = 1000;

const followVideo = operation({
  id: 'videos.events',
  method: 'GET',
  path: '/videos/{id}/events',
  summary: 'The video now and after each change, until it has ended',
  access: 'calls:read',
  params,
  streams: ['text/event-stream'],
  handle: async ({ params: { id } }, context: Context) => {
    const first = await findVideo(context, id);
    const { services } = context;
    const ending = AbortSignal.any([context.signal, services.ending]);
    async function* events(): AsyncGenerator<ServerEvent> {
      let seen = '';
      let number = 0;
      for (let task: VideoTask | undefined = first; task !== undefined;) {
        const data = encodeVideo(task);
        if (JSON.stringify(data) !== seen) yield { id: String((number += 1)), event: 'video', data };
        seen = JSON.stringify(data);
        if (task.endedAtMs !== undefined) return;
        await delay(lookEveryMs, undefined, { signal: ending });
        task = await services.tasks.findTask({ userName: first.userName, id });
      }
    }
    return answerEvents(events(), services.ending);
  },
});

export const videoOperations: readonly Operation<VideoServices>[] = [
  listVideos,
  getStorage,
  getVideo,
  deleteVideo,
  getContent,
  getVideoReceipt,
  followVideo,
];
