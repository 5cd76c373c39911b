import { randomBytes } from 'node:crypto';

import type { Command } from 'commander';

import { type AttentionItem, listAttention } from '../../alerts/attention.ts';
import type { Notice } from '../../alerts/alert-store.ts';
import type { Channels } from '../../alerts/notices/channel.ts';
import { noticeId, type NoticeContent } from '../../alerts/notices/notice-content.ts';
import { DeliveryError, sendNotice } from '../../alerts/notices/send-notice.ts';
import { systemClock } from '../../platform/clock.ts';
import { createCallbackSecret } from '../../tasks/callbacks/callback-secret.ts';
import { createAlertTransports } from '../assembly/alerts/alert-transports.ts';
import { buildAlertSettings } from '../config/alert-settings.ts';
import { readConfigNaming } from '../config/find-config.ts';
import { type Environment, StartError } from '../environment.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable, readStore } from './with-accounts.ts';

const listedMax = 1000;
const testTimeoutMs = 15_000;

/** Adds `weir alerts …`: present problems, the messages about them, and a test of the channels. */
export function addAlertCommands(program: Command, environment: Environment): void {
  const alerts = program.command('alerts').description('present problems, and the channels that get messages about them');
  addListCommands(alerts, environment);
  alerts
    .command('test')
    .description('sends a test message now, to all channels of the configuration or to the named ones')
    .argument('[channels...]', 'names of channels')
    .option('--json', 'as JSON')
    .action((names: readonly string[], { json }: { readonly json?: boolean }) => testChannels(environment, names, json === true));
  alerts
    .command('secret')
    .description('prints a new secret for a channel of type callback; it is stored nowhere')
    .action(() => console.log(createCallbackSecret(randomBytes)));
}

function addListCommands(alerts: Command, environment: Environment): void {
  alerts
    .command('list')
    .description('lists present problems, the most urgent first, each with the action that ends it')
    .option('--resolved', 'the problems that have ended instead, newest first')
    .option('--json', 'as JSON')
    .action(async ({ resolved, json }: { readonly resolved?: boolean; readonly json?: boolean }) => {
      if (resolved === true) return await listResolved(environment, json === true);
      const items = await readStore(environment, (store) => listAttention(store, listedMax));
      if (json === true) return console.log(JSON.stringify(items.map(describeItem), undefined, 2));
      if (items.length === 0) return console.log('no problems');
      printTable(
        ['SINCE', 'SEVERITY', 'RULE', 'SUBJECT', 'PROBLEM', 'WHAT TO DO'],
        items.map((item) => [
          instant(item.sinceMs),
          item.severity,
          item.code,
          inert(item.subject),
          inert(item.summary),
          inert(item.action),
        ]),
      );
    });
  alerts
    .command('messages')
    .description('lists messages that were not delivered, newest first, with the last problem')
    .option('--all', 'delivered messages too')
    .option('--json', 'as JSON')
    .action(async ({ all, json }: { readonly all?: boolean; readonly json?: boolean }) => {
      const notices = await readStore(environment, (store) => store.listNotices({ limit: listedMax, undelivered: all !== true }));
      if (json === true) return console.log(JSON.stringify(notices.map(describeNotice), undefined, 2));
      printTable(
        ['CREATED', 'CHANNEL', 'EVENT', 'RULE', 'SUBJECT', 'STATUS', 'ATTEMPTS', 'LAST PROBLEM'],
        notices.map((notice) => [
          instant(notice.createdAtMs),
          notice.channel,
          notice.event,
          notice.rule,
          inert(notice.subject),
          notice.status,
          String(notice.attempts),
          inert(notice.lastProblem ?? ''),
        ]),
      );
    });
}

const instant = (atMs: number): string => new Date(atMs).toISOString();

function describeItem({ sinceMs, ...item }: AttentionItem): object {
  return { ...item, since: instant(sinceMs) };
}

function describeNotice({ content: _content, createdAtMs, nextAttemptAtMs, ...notice }: Notice): object {
  return {
    ...notice,
    createdAt: instant(createdAtMs),
    ...(notice.status === 'waiting' ? { nextAttemptAt: instant(nextAttemptAtMs) } : {}),
  };
}

async function listResolved(environment: Environment, json: boolean): Promise<void> {
  const alerts = await readStore(environment, (store) => store.listAlerts({ state: 'resolved', limit: listedMax }));
  const rows = alerts.map(({ rule, subject, period, severity, sinceMs, resolvedAtMs = sinceMs, summary }) => ({
    code: rule,
    subject,
    period,
    severity,
    since: instant(sinceMs),
    resolved: instant(resolvedAtMs),
    summary,
  }));
  if (json) return console.log(JSON.stringify(rows, undefined, 2));
  printTable(
    ['SINCE', 'RESOLVED', 'RULE', 'SUBJECT', 'PROBLEM'],
    rows.map((row) => [row.since, row.resolved, row.code, inert(row.subject), inert(row.summary)]),
  );
}

/** Sends to each channel, also if another one fails. The exit code is 1 if one failed. */
async function testChannels(environment: Environment, names: readonly string[], json: boolean): Promise<void> {
  const { channels } = buildAlertSettings(readConfigNaming('alerts', environment) ?? {});
  const known = Object.keys(channels);
  if (known.length === 0) throw new StartError('the configuration has no channels; add one under alerts.channels');
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new StartError(`there is no channel "${unknown}"; there are ${known.join(', ')}`);
  const chosen = names.length === 0 ? known : names;
  const results = await Promise.all(
    chosen.map(async (name) => ({ channel: name, problem: await testChannel(environment, channels, name) })),
  );
  if (json)
    console.log(
      JSON.stringify(
        results.map(({ channel, problem }) => ({ channel, delivered: problem === undefined, problem })),
        undefined,
        2,
      ),
    );
  else for (const { channel, problem } of results) console.log(`${channel}: ${problem === undefined ? 'delivered' : `failed: ${problem}`}`);
  if (results.some(({ problem }) => problem !== undefined)) process.exitCode = 1;
}

/** Resolves with the problem, or with undefined if the message was delivered. */
async function testChannel(environment: Environment, channels: Channels, name: string): Promise<string | undefined> {
  const { [name]: channel } = channels;
  if (channel === undefined) return 'there is no such channel';
  const nowMs = systemClock.nowMs();
  const content: NoticeContent = {
    event: 'test',
    rule: 'test',
    subject: `channel:${name}`,
    period: '',
    severity: 'info',
    summary: 'Test of an alert channel of Weir.',
    action: 'Nothing: this channel works.',
    sinceMs: nowMs,
  };
  const notice = { id: noticeId(['test', name, String(nowMs)]), content: JSON.stringify(content), createdAtMs: nowMs };
  const signal = AbortSignal.timeout(testTimeoutMs);
  const transports = createAlertTransports(environment.proxies);
  try {
    await sendNotice(channel, notice, { transports, clock: systemClock, signal });
    return undefined;
  } catch (error) {
    if (signal.aborted) return `no answer within ${testTimeoutMs / 1000} s`;
    if (error instanceof DeliveryError) return error.message;
    throw error;
  }
}
