import { setTimeout as delay } from 'node:timers/promises';

import { Type } from 'typebox';

import { describedValueSchema, encodeDescribed } from '../../contract/described-value.ts';
import { instant, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import { type ControlServices, listLiveNodes } from '../nodes/live-nodes.ts';

/** A problem of a configuration file. Lines and columns count from 1. */
type ConfigFinding = { readonly line: number; readonly column: number; readonly path: string; readonly message: string };

export type ConfigServices = ControlServices & {
  /** Checks a file as a start would, without the values of the environment that it names. */
  readonly checkConfig: (yaml: string) => readonly ConfigFinding[];
};
type Context = AdminContext<ConfigServices>;

/** Sections that programs read when they start. */
const readAtStart = /^(?:console|monitor|database|mediaStorage)\./;
const reloadMsMax = 4000;
const reloadPollMs = 200;

export const getConfig = operation({
  id: 'config.get',
  method: 'GET',
  path: '/config',
  summary: 'Every value of the configuration in force, except upstreams and models, and where it comes from',
  access: 'config:read',
  query: record({ node: Type.Optional(Type.String({ maxLength: 100, description: 'A gateway; the first that runs if absent.' })) }),
  reply: record({
    node: Type.String(),
    version: Type.String({ description: 'A digest of the file.' }),
    fields: Type.Array(
      record({ ...describedValueSchema.properties, needs_restart: Type.Boolean({ description: 'Whether a change needs a restart.' }) }),
    ),
    as_of: Type.String(),
  }),
  handle: async ({ query }, context: Context) => {
    const found = (await listLiveNodes(context)).find(({ nodeId }) => query.node === undefined || nodeId === query.node);
    if (found === undefined) throw notFound('running gateway of this id');
    const { nodeId, atMs, report, description } = found;
    const fields = description.config.map((value) => ({ ...encodeDescribed(value), needs_restart: readAtStart.test(value.path) }));
    return { body: { node: nodeId, version: report.configVersion, fields, as_of: instant(atMs) } };
  },
});

export const listConfigProblems = operation({
  id: 'config.problems',
  method: 'GET',
  path: '/config/problems',
  summary: 'The gateways whose present file is not in force, and why; and files that differ between gateways',
  access: 'config:read',
  reply: record({
    problems: Type.Array(record({ node: Type.String(), detail: Type.String() })),
    versions: Type.Array(record({ version: Type.String(), nodes: Type.Array(Type.String()) }), {
      description: 'More than one if gateways have different files.',
    }),
    as_of: Type.String(),
  }),
  handle: async (_input, context: Context) => {
    const nodes = await listLiveNodes(context);
    const problems = nodes.flatMap(({ nodeId, report }) =>
      report.configProblem === undefined ? [] : [{ node: nodeId, detail: report.configProblem }],
    );
    const versions = [...Map.groupBy(nodes, ({ report }) => report.configVersion)].map(([version, own]) => ({
      version,
      nodes: own.map(({ nodeId }) => nodeId),
    }));
    return { body: { problems, versions, as_of: instant(context.nowMs()) } };
  },
});

export const checkConfigText = operation({
  id: 'config.check',
  method: 'POST',
  path: '/config/check',
  summary: 'Checks a configuration file; nothing is changed',
  access: 'config:read',
  body: request({ yaml: Type.String({ maxLength: 512 * 1024, description: 'References such as ${NAME} are not replaced.' }) }),
  reply: record({
    is_valid: Type.Boolean(),
    problems: Type.Array(record({ line: Type.Integer(), column: Type.Integer(), path: Type.String(), message: Type.String() })),
  }),
  handle: async ({ body }, { services }: Context) => {
    const problems = services.checkConfig(body.yaml).map(({ line, column, path, message }) => ({ line, column, path, message }));
    return { body: { is_valid: problems.length === 0, problems } };
  },
});

export const reloadConfig = operation({
  id: 'config.reload',
  method: 'POST',
  path: '/config/reload',
  summary: 'Makes every gateway read its files and lists of models now; answers when all have, or after four seconds',
  access: 'config:write',
  recentSignIn: true,
  reply: record({
    order: Type.Integer({ description: 'Its number; nodes report the last one that they have followed.' }),
    nodes: Type.Array(record({ node: Type.String(), has_followed: Type.Boolean(), config_in_force: Type.Boolean() })),
  }),
  handle: async (_input, context: Context) => {
    const { services, change, nowMs, signal } = context;
    // The next report of a gateway says that it has followed, and must come soon.
    await services.control.watchNodes(nowMs() + 2 * reloadMsMax);
    const order = await services.control.orderReload(change());
    for (const untilMs = nowMs() + reloadMsMax; ;) {
      const nodes = await listLiveNodes(context);
      const followed = nodes.map(({ nodeId, report }) => ({
        node: nodeId,
        has_followed: report.reloads >= order,
        config_in_force: report.configProblem === undefined,
      }));
      if (followed.every((node) => node.has_followed) || nowMs() >= untilMs) return { body: { order, nodes: followed } };
      await delay(reloadPollMs, undefined, { signal });
    }
  },
});

export const configOperations: readonly Operation<ConfigServices>[] = [getConfig, listConfigProblems, checkConfigText, reloadConfig];
