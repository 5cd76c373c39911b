import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { AlertStore, NewNotice } from './alert-store.ts';
import { type Alert, type AlertRule, type Finding, isOfRule, type Observation } from './alert.ts';
import type { Condition } from './conditions/condition.ts';
import { describeObserved, observedRules } from './conditions/describe-observed.ts';
import { mergeObservations } from './merge-observations.ts';
import { type AlertChange, reconcileAlert } from './reconcile-alert.ts';

const openMax = 10_000;
/** A report of a gateway counts for this many checks, so that a slow one does not look silent. */
const reportChecks = 4;
/** A part must be good for this many checks before its problem counts as ended. */
const settleChecks = 2;
const keptMs = 90 * 24 * 3_600_000;
const sweepEveryMs = 3_600_000;
const sweepRows = 1000;

export type AlertWatchOptions = {
  readonly store: AlertStore;
  readonly conditions: readonly Condition[];
  /** The observations of this gateway. @param open the open alerts, whose good parts are of interest too */
  readonly observe: (open: readonly Alert[]) => readonly Observation[] | Promise<readonly Observation[]>;
  /** The messages about a change, for the channels that want it. */
  readonly announce: (change: AlertChange) => readonly NewNotice[];
  /** Rules that are turned off. Their alerts are neither opened nor announced. */
  readonly isOff: (rule: AlertRule) => boolean;
  readonly nodeId: string;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Time between two checks. */
  readonly everyMs: () => number;
};

export type AlertWatch = {
  /** Searches for problems once, and writes and announces what has changed. Rejects with the store's error. */
  readonly check: () => Promise<void>;
  /** Checks again and again, until it is closed. */
  readonly start: () => void;
  /** The open alerts by rule, as of the last check. */
  readonly openByRule: () => ReadonlyMap<AlertRule, number>;
  readonly close: () => Promise<void>;
};

type Watch = AlertWatchOptions & {
  readonly lastFoundMs: Map<Condition, number>;
  /** Whether the last report of this process had observations. */
  reported: boolean | undefined;
  sweptAtMs: number;
  open: readonly Alert[];
};

/**
 * Searches for problems, away from the path of calls. Every gateway does so, without a leader: the store accepts only
 * one change of each version of an alert. A gateway without problems only reads.
 */
export function createAlertWatch(options: AlertWatchOptions): AlertWatch {
  const { clock, logger } = options;
  const watch: Watch = { ...options, lastFoundMs: new Map(), reported: undefined, sweptAtMs: -Infinity, open: [] };
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isClosed = false;
  let hasFailed = false;
  const look = async (): Promise<void> => {
    try {
      await check(watch, clock.nowMs());
      if (hasFailed) logger.info({}, 'searching for alerts works again');
      hasFailed = false;
    } catch (error) {
      // An outage of the database is one message, not one for each check.
      if (!hasFailed) logger.warn({ err: error }, 'searching for alerts failed');
      hasFailed = true;
    }
    if (!isClosed) schedule();
  };
  const schedule = (): void => {
    timer = setTimeout(() => void (running = look()), options.everyMs()).unref();
  };
  return {
    check: () => check(watch, clock.nowMs()),
    start: schedule,
    openByRule: () => new Map([...Map.groupBy(watch.open, ({ rule }) => rule)].map(([rule, alerts]) => [rule, alerts.length])),
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await running;
    },
  };
}

async function check(watch: Watch, nowMs: number): Promise<void> {
  const { store } = watch;
  const open = await store.listAlerts({ state: 'open', limit: openMax });
  const observations = await share(watch, await watch.observe(open), nowMs);
  await checkObserved(watch, open, observations, nowMs);
  for (const condition of watch.conditions) {
    if (nowMs - (watch.lastFoundMs.get(condition) ?? -Infinity) < condition.everyMs) continue;
    const findings = await condition.find({ nowMs, observations });
    watch.lastFoundMs.set(condition, nowMs);
    await checkFound(watch, open.filter(isOfRule(condition.rules)), findings, nowMs);
  }
  watch.open = await store.listAlerts({ state: 'open', limit: openMax });
  await sweep(watch, nowMs);
}

/** Writes the observations of this gateway, and reads those of all. Nothing is written if there are none as before. */
async function share(watch: Watch, own: readonly Observation[], nowMs: number): Promise<readonly Observation[]> {
  const { store, nodeId } = watch;
  // The first report of a process replaces that of the process before it.
  if (own.length > 0 || watch.reported !== false) {
    const isNews = own.length > 0 || watch.reported === true || (await store.listNodeReports(0)).some((each) => each.nodeId === nodeId);
    if (isNews) await store.putNodeReport({ nodeId, atMs: nowMs, observations: own });
  }
  watch.reported = own.length > 0;
  const reports = await store.listNodeReports(nowMs - reportChecks * watch.everyMs());
  return reports.flatMap(({ observations }) => observations);
}

async function checkObserved(watch: Watch, open: readonly Alert[], observations: readonly Observation[], nowMs: number): Promise<void> {
  const settleMs = settleChecks * watch.everyMs();
  for (const rule of observedRules) {
    const known = new Map(open.filter(isOfRule([rule])).map((alert) => [alert.subject, alert]));
    const seen = Map.groupBy(
      observations.filter((each) => each.rule === rule),
      ({ subject }) => subject,
    );
    for (const subject of new Set([...known.keys(), ...seen.keys()])) {
      const alert = known.get(subject);
      const members = mergeObservations(alert?.members ?? {}, seen.get(subject) ?? [], { nowMs, settleMs });
      const finding = watch.isOff(rule) ? undefined : describeObserved(rule, subject, members);
      await change(watch, alert, finding, nowMs, members);
    }
  }
}

async function checkFound(watch: Watch, open: readonly Alert[], findings: readonly Finding[], nowMs: number): Promise<void> {
  const wanted = new Map(findings.filter(({ rule }) => !watch.isOff(rule)).map((finding) => [nameOf(finding), finding]));
  for (const alert of open) {
    const finding = wanted.get(nameOf(alert));
    wanted.delete(nameOf(alert));
    await change(watch, alert, finding, nowMs);
  }
  for (const finding of wanted.values()) await change(watch, undefined, finding, nowMs);
}

const nameOf = ({ rule, subject, period }: Finding): string => JSON.stringify([rule, subject, period]);

async function change(
  watch: Watch,
  open: Alert | undefined,
  finding: Finding | undefined,
  nowMs: number,
  members: Alert['members'] = {},
): Promise<void> {
  const { store, announce, isOff, logger } = watch;
  if (open === undefined && finding === undefined) return;
  const before = open ?? (finding === undefined ? undefined : await store.findAlert(finding));
  const changed = reconcileAlert(before, finding, nowMs, members);
  if (changed === undefined) return;
  const { rule, subject, summary } = changed.alert;
  const notices = isOff(rule) ? [] : announce(changed);
  const channels = notices.map(({ channel }) => channel);
  const alert = changed.event === 'firing' ? { ...changed.alert, channels } : changed.alert;
  if (!(await store.changeAlert(alert, notices))) return;
  if (changed.event === 'firing') logger.warn({ rule, subject, summary, channels }, 'alert began');
  if (changed.event === 'resolved') logger.info({ rule, subject }, 'alert ended');
}

async function sweep(watch: Watch, nowMs: number): Promise<void> {
  if (nowMs - watch.sweptAtMs < sweepEveryMs) return;
  watch.sweptAtMs = nowMs;
  while ((await watch.store.sweepAlerts({ beforeMs: nowMs - keptMs, limit: sweepRows })) >= sweepRows);
}
