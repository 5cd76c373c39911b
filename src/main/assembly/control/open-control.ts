import { hash } from 'node:crypto';
import { hostname } from 'node:os';

import { createLimitAnswers } from '../../../control/nodes/answer-limit-questions.ts';
import { createControlFollower } from '../../../control/nodes/control-follower.ts';
import {
  credentialNameOf,
  findOverride,
  type NodeDescription,
  type NodeReport,
  type TargetOverride,
  type TargetState,
  targetIdOf,
} from '../../../control/nodes/node-state.ts';
import { createOperationRunner } from '../../../control/operations/operation-runner.ts';
import type { Gateway } from '../../../gateway/endpoints/gateway.ts';
import { subjectOf, type Target } from '../../../gateway/attempts/routing/target.ts';
import type { RoutingTable } from '../../../gateway/attempts/routing/routing-table.ts';
import { withoutTargets } from '../../../gateway/attempts/routing/without-targets.ts';
import type { GatewaySettings } from '../../../gateway/attempts/services.ts';
import type { Clock } from '../../../platform/clock.ts';
import { release } from '../../../platform/release.ts';
import type { Logger } from '../../../platform/log.ts';
import type { Store } from '../../../store/store.ts';
import type { LiveSettings } from '../../config/live-settings.ts';
import type { Environment } from '../../environment.ts';
import type { Simulated } from '../../programs/start-simulated-upstreams.ts';
import { listCredentials, reportCredential } from '../list-credentials.ts';
import type { OpenedLayers } from '../open-layers.ts';
import { countLimitUse } from './count-limit-use.ts';
import { describeNode } from './describe-node.ts';
import { listOfferedTools } from './describe-tools.ts';
import { gatewayOperations } from './gateway-operations.ts';
import type { LentCallers } from './lend-callers.ts';
import type { TestParts } from './test-model.ts';

/** Live settings whose routes leave out targets that an operator has taken out of use. */
export type ControlledSettings = LiveSettings & {
  readonly setOverrides: (overrides: readonly TargetOverride[]) => void;
  readonly overrides: () => readonly TargetOverride[];
  /** The routes with those targets. */
  readonly wholeRouting: () => RoutingTable;
};

export function controlSettings(live: LiveSettings, clock: Pick<Clock, 'nowMs'>): ControlledSettings {
  let overrides: readonly TargetOverride[] = [];
  let built: { readonly from: GatewaySettings; readonly by: readonly TargetOverride[]; readonly settings: GatewaySettings } | undefined;
  const isOut = (target: Target): boolean => findOverride(overrides, subjectOf(target), clock.nowMs()) !== undefined;
  return {
    ...live,
    settings: () => {
      const from = live.settings();
      if (overrides.length === 0) return from;
      if (built?.from !== from || built.by !== overrides)
        built = { from, by: overrides, settings: { ...from, routing: withoutTargets(from.routing, isOut) } };
      return built.settings;
    },
    overrides: () => overrides,
    wholeRouting: () => live.settings().routing,
    setOverrides: (next) => {
      // The same orders keep their settings, whose routes are remembered.
      if (JSON.stringify(next) !== JSON.stringify(overrides)) overrides = next;
    },
  };
}

export type ControlParts = {
  readonly environment: Environment;
  readonly nodeId: string;
  readonly program: string;
  readonly store: Store;
  readonly live: ControlledSettings;
  readonly layers: Pick<OpenedLayers, 'follow'>;
  readonly gateway: Gateway;
  readonly simulated: Simulated | undefined;
  readonly lend: LentCallers['lend'];
  readonly serveConnection: TestParts['serveConnection'];
  readonly clock: Clock;
  readonly logger: Logger;
};

/** Reported targets: those with a problem first. */
const targetsMax = 500;
const credentialsMax = 500;

/**
 * Begins to follow the orders of operators, to report the state of the gateway, and to run work of its upstreams.
 * Resolves with a function that looks for such work at once, for a console in the same process.
 */
export async function openControl(parts: ControlParts, opened: AsyncDisposableStack): Promise<() => void> {
  const { nodeId, store, live, layers, clock, logger } = parts;
  const startedAtMs = clock.nowMs();
  let reloads: number | undefined;
  let overrides: readonly TargetOverride[] = [];
  const describe = keepDescription(parts);
  const limitAnswers = createLimitAnswers({ store, logger, count: (owners) => countLimitUse(parts.gateway, owners) });
  const follower = createControlFollower({
    nodeId,
    store,
    clock,
    logger,
    follow: async (signals) => {
      ({ overrides } = signals);
      live.setOverrides(overrides);
      // An order from before the start was followed by the start.
      if (reloads !== undefined && signals.reloads !== reloads) live.reload();
      ({ reloads } = signals);
      await limitAnswers.follow(signals);
      if (await layers.follow(signals.newestLayer)) live.look();
    },
    report: () => reportNode(parts, { startedAtMs, reloads: reloads ?? 0, overrides, limits: limitAnswers.latest() }),
    journalPending: () => parts.gateway.journal.pendingEntries(),
    describe,
  });
  const runner = createOperationRunner({ store, clock, logger, handlers: gatewayOperations({ ...parts, ...live }) });
  opened.defer(() => runner.close());
  opened.defer(() => follower.close());
  await follower.start();
  runner.start();
  return runner.wake;
}

function reportNode(
  { program, live, gateway, clock, environment }: ControlParts,
  {
    startedAtMs,
    reloads,
    overrides,
    limits,
  }: Pick<NodeReport, 'startedAtMs' | 'reloads'> & {
    readonly overrides: readonly TargetOverride[];
    readonly limits: NodeReport['limits'] | undefined;
  },
): NodeReport {
  const gate = gateway.gatekeeper.state();
  const problem = live.problem();
  return {
    program,
    version: release.version,
    host: hostname(),
    processId: process.pid,
    startedAtMs,
    configVersion: hash('sha256', live.text()).slice(0, 12),
    ...(problem !== undefined && { configProblem: problem }),
    layer: live.layer(),
    priceVersion: gateway.settings().routing.priceBook.version,
    callsUnderWay: gate.inFlight,
    callsWaiting: gate.waiting,
    journalPending: gateway.journal.pendingEntries(),
    loopTurnMs: gate.turnMs,
    loopBusyShare: gate.busyShare,
    memoryBytes: process.memoryUsage.rss(),
    memoryShare: gate.memoryShare,
    reloads,
    targetsOut: overrides.filter(({ untilMs }) => untilMs > clock.nowMs()).map(({ targetId }) => targetId),
    targets: reportTargets(gateway),
    credentials: listCredentials(live.wholeRouting(), environment.secrets).map(reportCredential).slice(0, credentialsMax),
    ...(limits !== undefined && { limits }),
  };
}

function reportTargets({ health }: ControlParts['gateway']): readonly TargetState[] {
  return health
    .report()
    .map(({ upstreamId, credentialId, upstreamModel, ...state }): TargetState => ({
      id: targetIdOf(credentialId, upstreamModel),
      upstream: upstreamId,
      credential: credentialNameOf(credentialId),
      model: upstreamModel,
      ...state,
    }))
    .toSorted((a, b) => Number(a.state === 'healthy') - Number(b.state === 'healthy') || (a.id < b.id ? -1 : 1))
    .slice(0, targetsMax);
}

/** The description of the settings in force, made once for each. */
function keepDescription({ live, clock, environment, simulated }: ControlParts): () => NodeDescription {
  let kept: { readonly settings: GatewaySettings; readonly description: NodeDescription } | undefined;
  return () => {
    const settings = live.settings();
    if (kept?.settings !== settings)
      kept = {
        settings,
        description: describeNode({
          config: live.config(),
          text: live.text(),
          source: live.source(),
          settings,
          offeredTools: listOfferedTools(live.config(), environment.variable, simulated?.search.url),
          nowMs: clock.nowMs(),
        }),
      };
    return kept.description;
  };
}
