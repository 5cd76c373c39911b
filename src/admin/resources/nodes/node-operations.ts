import { Type } from 'typebox';

import type { NodeState } from '../../../control/nodes/node-state.ts';
import { instant, nullable, pageSchema, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { type ControlServices, isSilent, watchNodes } from './live-nodes.ts';

const nodeSchema = record(
  {
    id: Type.String({ description: 'The data directory, and the slot of the process in it.' }),
    state: Type.Enum(['running', 'silent'], { description: 'Silent: no report for 65 s. It was killed, or cannot reach the database.' }),
    reported_at: Type.String(),
    program: Type.String(),
    version: Type.String(),
    host: Type.String(),
    process_id: Type.Integer(),
    started_at: Type.String(),
    config_version: Type.String({ description: 'A digest of the configuration file in force.' }),
    config_in_force: Type.Boolean({ description: 'False if the present file is invalid and the last valid one is used.' }),
    layer: nullable(
      record({
        number: nullable(Type.Integer({ description: 'The published layer in force; null if none is.' })),
        is_taken: Type.Boolean({ description: 'Whether its file allows layers (console.editConfig).' }),
        newest: Type.Integer({ description: 'The newest layer that it knows; 0 if none is published.' }),
        problem: nullable(Type.String({ description: 'Why the newest one is not in force.' })),
      }),
    ),
    price_version: Type.String(),
    calls_under_way: Type.Integer(),
    calls_waiting: Type.Integer(),
    journal_pending: Type.Integer({ description: 'Finished calls that are not in the database yet.' }),
    loop_turn_ms: Type.Number({ description: 'How long an event waits for its turn.' }),
    loop_busy_share: Type.Number(),
    memory_bytes: Type.Integer(),
    memory_share: Type.Number({ description: 'Of the memory that the process may use.' }),
    reloads: Type.Integer({ description: 'The number of the last order to reload that it has followed.' }),
    targets_out: Type.Array(Type.String(), { description: 'Targets that it leaves out by an order.' }),
  },
  'A gateway process.',
);

function encodeLayer({ layer }: NodeState['report']) {
  if (layer === undefined) return null;
  return { number: layer.number ?? null, is_taken: layer.isTaken, newest: layer.newest, problem: layer.problem ?? null };
}

export function encodeNode(node: NodeState, nowMs: number) {
  const { report } = node;
  return {
    id: node.nodeId,
    state: isSilent(node, nowMs) ? ('silent' as const) : ('running' as const),
    reported_at: instant(node.atMs),
    program: report.program,
    version: report.version,
    host: report.host,
    process_id: report.processId,
    started_at: instant(report.startedAtMs),
    config_version: report.configVersion,
    config_in_force: report.configProblem === undefined,
    layer: encodeLayer(report),
    price_version: report.priceVersion,
    calls_under_way: report.callsUnderWay,
    calls_waiting: report.callsWaiting,
    journal_pending: report.journalPending,
    loop_turn_ms: report.loopTurnMs,
    loop_busy_share: report.loopBusyShare,
    memory_bytes: report.memoryBytes,
    memory_share: report.memoryShare,
    reloads: report.reloads,
    targets_out: [...report.targetsOut],
  };
}

export const listNodes = operation({
  id: 'nodes.list',
  method: 'GET',
  path: '/nodes',
  summary: 'The gateway processes, as they last reported',
  access: 'upstreams:read',
  reply: pageSchema(nodeSchema),
  handle: async (_input, context: AdminContext<ControlServices>) => {
    const atMs = context.nowMs();
    const items = (await watchNodes(context)).map((node) => encodeNode(node, atMs));
    return { body: { items, next_cursor: null, as_of: instant(atMs) } };
  },
});

export const nodeOperations: readonly Operation<ControlServices>[] = [listNodes];
