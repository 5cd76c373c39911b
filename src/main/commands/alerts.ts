import { randomBytes } from 'node:crypto';

import type { Command } from 'commander';

import { listAlerts, listMessages, testChannels } from '../../admin/resources/alerts/alert-operations.ts';
import { createCallbackSecret } from '../../tasks/callbacks/callback-secret.ts';
import type { ChannelTest } from '../assembly/alerts/test-channels.ts';
import { buildAlertSettings } from '../config/alert-settings.ts';
import { readConfigNaming } from '../config/find-config.ts';
import { type Environment, StartError } from '../environment.ts';
import { awaitOperation, interruption } from './remote/await-operation.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

const listedMax = 1000;

type JsonOption = RemoteOption & { readonly json?: boolean };

/** Adds `weir alerts …`: present problems, the messages about them, and a test of the channels. */
export function addAlertCommands(program: Command, environment: Environment): void {
  const alerts = program.command('alerts').description('present problems, and the channels that get messages about them');
  addRemoteOption(alerts.command('list'))
    .description('lists present problems, the most urgent first, each with the action that ends it')
    .option('--resolved', 'the problems that have ended instead, newest first')
    .option('--json', 'as JSON')
    .action((options: JsonOption & { readonly resolved?: boolean }) => printAlerts(environment, options));
  addRemoteOption(alerts.command('messages'))
    .description('lists messages that were not delivered, newest first, with the last problem')
    .option('--all', 'delivered messages too')
    .option('--json', 'as JSON')
    .action((options: JsonOption & { readonly all?: boolean }) => printMessages(environment, options));
  addRemoteOption(alerts.command('test'))
    .description('sends a test message now, to all channels of the configuration or to the named ones; with --remote a gateway sends it')
    .argument('[channels...]', 'names of channels')
    .option('--json', 'as JSON')
    .action((names: readonly string[], options: JsonOption) => test(environment, names, options));
  alerts
    .command('secret')
    .description('prints a new secret for a channel of type callback; it is stored nowhere')
    .action(() => console.log(createCallbackSecret(randomBytes)));
}

async function printAlerts(
  environment: Environment,
  { resolved, json, ...place }: JsonOption & { readonly resolved?: boolean },
): Promise<void> {
  const query = { state: resolved === true ? ('resolved' as const) : ('open' as const), limit: listedMax };
  const { items } = (await withService(environment, { ...place, reads: true }, (service) => service.call(listAlerts, { query }))).body;
  if (json === true) return printItems(items);
  if (resolved === true)
    return printTable(
      ['SINCE', 'RESOLVED', 'RULE', 'SUBJECT', 'PROBLEM'],
      items.map((item) => [item.since, item.resolved_at ?? item.since, item.code, inert(item.subject), inert(item.summary)]),
    );
  if (items.length === 0) return console.log('no problems');
  printTable(
    ['SINCE', 'SEVERITY', 'RULE', 'SUBJECT', 'PROBLEM', 'WHAT TO DO'],
    items.map((item) => [item.since, item.severity, item.code, inert(item.subject), inert(item.summary), inert(item.action)]),
  );
}

async function printMessages(environment: Environment, { all, json, ...place }: JsonOption & { readonly all?: boolean }): Promise<void> {
  const query = { undelivered: all !== true, limit: listedMax };
  const { items } = (await withService(environment, { ...place, reads: true }, (service) => service.call(listMessages, { query }))).body;
  if (json === true) return printItems(items);
  printTable(
    ['CREATED', 'CHANNEL', 'EVENT', 'RULE', 'SUBJECT', 'STATUS', 'ATTEMPTS', 'LAST PROBLEM'],
    items.map((message) => [
      message.created_at,
      message.channel,
      message.event,
      message.rule,
      inert(message.subject),
      message.state.replace('_', '-'),
      String(message.attempts),
      inert(message.last_problem ?? ''),
    ]),
  );
}

/** Sends to each channel, also if another one fails. The exit code is 1 if one failed. */
async function test(environment: Environment, names: readonly string[], { json, ...place }: JsonOption): Promise<void> {
  const results = await (place.remote === undefined ? testHere(environment, names) : testThere(environment, names, place));
  if (json === true) printItems(results);
  else
    for (const { channel, problem } of results) console.log(`${channel}: ${problem === null ? 'delivered' : `failed: ${inert(problem)}`}`);
  if (results.some(({ delivered }) => !delivered)) process.exitCode = 1;
}

/** With the channels of the configuration of this machine: it needs no running gateway. */
async function testHere(environment: Environment, names: readonly string[]): Promise<readonly ChannelTest[]> {
  const { testAlertChannels, UnknownChannelError } = await import('../assembly/alerts/test-channels.ts');
  const { channels } = buildAlertSettings(readConfigNaming('alerts', environment) ?? {});
  try {
    return await testAlertChannels(environment, channels, names);
  } catch (error) {
    throw error instanceof UnknownChannelError ? new StartError(error.message, { cause: error }) : error;
  }
}

async function testThere(environment: Environment, names: readonly string[], place: RemoteOption): Promise<readonly ChannelTest[]> {
  return await withService(environment, place, async (service) => {
    const started = (await service.call(testChannels, { body: { channels: [...names] } })).body;
    const { result } = await awaitOperation(service, started, { signal: interruption() });
    // Written by the gateway's operation; null if it was cancelled before it began.
    return (result as { readonly channels: readonly ChannelTest[] } | null)?.channels ?? [];
  });
}
