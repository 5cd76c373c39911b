import { setTimeout as delay } from 'node:timers/promises';

import { Type } from 'typebox';

import type { Permission } from '../../../accounts/people/permissions.ts';
import { record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import { shareAnswer } from '../../share-answers.ts';
import { answerEvents, type ServerEvent } from '../../event-stream.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { permissionProblem } from '../../permission-problem.ts';
import { AdminProblem } from '../../problem.ts';
import { type AttentionServices, readAttention } from '../attention/attention-operations.ts';
import { feedOf, type NewCalls } from './call-feed.ts';
import { callFilterQuery, readCallFilter } from '../calls/call-filter.ts';
import { type CallServices, encodeCall } from '../calls/call-operations.ts';
import { watchNodes } from '../nodes/live-nodes.ts';
import { encodeNode } from '../nodes/node-operations.ts';
import { listRecentOperations, type OperationServices } from '../operations/operation-resource.ts';
import { encodeTargets, type TargetServices } from '../targets/target-operations.ts';

type EventServices = AttentionServices & CallServices & TargetServices & OperationServices;
type Context = AdminContext<EventServices>;

/** The permission of each topic. */
const topics = {
  attention: 'usage:read',
  calls: 'calls:read',
  nodes: 'upstreams:read',
  // Each operation has a permission of its own, which its reader compares.
  operations: undefined,
  targets: 'upstreams:read',
} as const satisfies Readonly<Record<string, Permission | undefined>>;
type Topic = keyof typeof topics;
const topicNames = Object.keys(topics) as readonly Topic[];

const pollMs = 1000;
/** All streams ask at the same moments, and the first answer is for all of them. */
const sharedMs = pollMs / 2;
/** Long work that ended earlier is not announced. */
const recentMs = 15 * 60_000;
const stream = operation({
  id: 'events.stream',
  method: 'GET',
  path: '/events',
  summary: 'Changes as they happen: problems, calls as they are booked, gateways, long work, and the health of targets',
  access: 'signed-in',
  query: record({
    ...callFilterQuery,
    topics: Type.String({ minLength: 1, maxLength: 100, description: `Names with commas: ${topicNames.join(', ')}.` }),
  }),
  streams: ['text/event-stream'],
  handle: async ({ query: { topics: written, ...filter } }, context: Context) => {
    const wanted = written.split(',').map((name) => readTopic(name, context));
    const signal = AbortSignal.any([context.signal, context.services.ending]);
    const makers: Readonly<Record<Topic, () => Reader>> = {
      attention: () => readChanges('attention', () => readAttention(context, sharedMs)),
      calls: () => readCalls(context, filter),
      nodes: () => readNodes(context),
      operations: () => readOperations(context),
      targets: () => readTargets(context),
    };
    const readers = [...new Set(wanted)].map((topic) => makers[topic]());
    return answerEvents(poll(readers, context, signal), context.services.ending);
  },
});

function readTopic(name: string, { principal }: Context): Topic {
  const topic = topicNames.find((each) => each === name);
  if (topic === undefined) {
    const detail = `The query parameter topics must have names such as ${topicNames.join(',')}; got "${name}".`;
    throw new AdminProblem('invalid_request', detail, { errors: [{ parameter: 'topics', code: 'enum', detail }] });
  }
  const permission = topics[topic];
  if (permission === undefined) return topic;
  // Gateways and their targets are not about some users.
  const maySee = principal.permissions.has(permission) && (permission !== 'upstreams:read' || principal.users === 'all');
  if (maySee) return topic;
  throw permissionProblem(principal, permission, `The topic ${topic} needs`);
}

type Reader = () => Promise<Omit<ServerEvent, 'id'> | undefined>;

/**
 * Asks all readers at each full second of the process. A client that reads slowly is asked for less often: nothing is
 * buffered.
 */
async function* poll(readers: readonly Reader[], { nowMs }: Context, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  for (;;) {
    for (const read of readers) {
      const id = String(nowMs());
      const event = await read();
      signal.throwIfAborted();
      if (event !== undefined) yield { id, ...event };
    }
    await delay(pollMs - (performance.now() % pollMs), undefined, { signal });
  }
}

const readNodeStates = (context: Context): ReturnType<typeof watchNodes> =>
  shareAnswer(
    context.services.control,
    'nodes',
    () => watchNodes(context),
    () => sharedMs,
  );

/** A list whenever it has changed. */
function readChanges(event: string, list: () => Promise<readonly unknown[]>): Reader {
  let before: string | undefined;
  return async () => {
    const items = await list();
    const text = JSON.stringify(items);
    if (text === before) return undefined;
    before = text;
    return { event, data: { items } };
  };
}

function readTargets(context: Context): Reader {
  let before: string | undefined;
  return async () => {
    const atMs = context.nowMs();
    const nodes = await readNodeStates(context);
    const items = encodeTargets(nodes, await context.services.control.listOverrides(atMs), atMs);
    // Reports that differ in their times and running calls only are not sent.
    const states = JSON.stringify(items.map(({ id, state, override }) => [id, state, override]));
    if (states === before) return undefined;
    before = states;
    return { event: 'targets', data: { items } };
  };
}

/**
 * Gateways whenever one starts, ends or uses something else. Reports that differ in their figures only are not sent.
 */
function readNodes(context: Context): Reader {
  let before: string | undefined;
  return async () => {
    const atMs = context.nowMs();
    const items = (await readNodeStates(context)).map((node) => encodeNode(node, atMs));
    const states = JSON.stringify(
      items.map(({ id, state, started_at, config_version, config_in_force, layer, price_version, targets_out }) => [
        [id, state, started_at],
        [config_version, config_in_force, layer, price_version, targets_out],
      ]),
    );
    if (states === before) return undefined;
    before = states;
    return { event: 'nodes', data: { items } };
  };
}

/**
 * Operations that have changed since the last reading: their state and progress. The first event has those that run.
 */
function readOperations(context: Context): Reader {
  const seen = new Map<string, number>();
  let isFirst = true;
  return async () => {
    const recent = await listRecentOperations(context, recentMs);
    const changed = recent.filter(({ version, item }) => (seen.get(item.id) ?? 0) < version);
    seen.clear();
    for (const { version, item } of recent) seen.set(item.id, version);
    const shown = isFirst ? changed.filter(({ item }) => item['ended_at'] === null) : changed;
    if (shown.length === 0 && !isFirst) return undefined;
    isFirst = false;
    return { event: 'operations', data: { items: shown.map(({ item }) => item) } };
  };
}

/** Calls that were booked since the last reading, or since the last event that the client has received. */
function readCalls({ services, principal, nowMs, lastEventId }: Context, query: Parameters<typeof readCallFilter>[0]): Reader {
  const asked = { filter: readCallFilter(query), scope: principal.users };
  const feed = feedOf(services.calls, JSON.stringify([query, principal.users]), asked);
  const receivedMs = lastEventId === undefined || lastEventId === '' ? NaN : Number(lastEventId);
  let at: number | undefined;
  return async () => {
    await feed.advance(nowMs(), sharedMs);
    const missed = feed.found.filter(({ atMs, durationMs }) => atMs + durationMs >= receivedMs - 2 * pollMs);
    const news = at === undefined ? { calls: missed, hasMore: false } : feed.after(at);
    at = feed.number;
    return news === undefined || (news.calls.length === 0 && !news.hasMore) ? undefined : { event: 'calls', data: encodeNews(news) };
  };
}

/** Events by what they have: all streams of a feed send the same. */
const encodedNews = new WeakMap<NewCalls, object>();
const encodeNews = (news: NewCalls): object =>
  encodedNews.getOrInsertComputed(news, ({ calls, hasMore }) => ({ items: calls.map(encodeCall), has_more: hasMore }));

export const eventOperations: readonly Operation<EventServices>[] = [stream];
