import type { Command } from 'commander';

import { captureLimits } from '../../content/captures/capture.ts';
import { orderCapture, readWires } from '../../content/captures/manage-captures.ts';
import { wireNames } from '../../content/captures/wires.ts';
import { systemClock } from '../../platform/clock.ts';
import { createIds } from '../../platform/ids.ts';
import { openWireSealer } from '../assembly/content/open-captures.ts';
import { readConfigNaming } from '../config/find-config.ts';
import { type Environment, StartError } from '../environment.ts';
import { findKey } from './find-keys.ts';
import { commandAuthor } from './name-actor.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable, readStore, withAccounts, withStore } from './with-accounts.ts';

const now = () => ({ ...commandAuthor(), atMs: systemClock.nowMs() });
const minutesMax = captureLimits.durationMs / 60_000;

/** Adds `weir captures …`: calls of one key as they are on the wire, for debugging. */
export function addCaptureCommands(program: Command, environment: Environment): void {
  const captures = program.command('captures').description('calls of one key as they are on the wire, kept for a day for debugging');
  captures
    .command('create')
    .description('keeps the next calls of a key; its owner sees that, and it is in the audit log')
    .requiredOption('--key <key>', 'id, or user/name')
    .option('--calls <n>', `the most calls, up to ${captureLimits.calls}`, '10')
    .option('--minutes <n>', `for how long, up to ${minutesMax}`, '15')
    .action(({ key, calls, minutes }: { readonly key: string; readonly calls: string; readonly minutes: string }) =>
      create(environment, key, {
        calls: readNumber('calls', calls, captureLimits.calls),
        minutes: readNumber('minutes', minutes, minutesMax),
      }),
    );
  captures
    .command('list')
    .description('lists captures of the last day, and the calls that are kept')
    .option('--json', 'as JSON')
    .action(({ json }: { readonly json?: boolean }) => list(environment, json === true));
  captures
    .command('delete')
    .description('ends a capture and deletes the calls that it has kept')
    .argument('<capture>', 'its id')
    .action((id: string) =>
      withStore(environment, async (store) => {
        if (!(await store.deleteCapture(id, now()))) throw new StartError(`there is no capture "${id}"; weir captures list shows them`);
        console.error(`deleted ${id}`);
      }),
    );
  captures
    .command('show')
    .description('prints the four wires of a captured call as JSON; needs console.readContent, and is in the audit log')
    .argument('<call>', 'the id of the call')
    .action((callId: string) => show(environment, callId));
}

function readNumber(option: string, text: string, max: number): number {
  const value = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= max) return value;
  throw new StartError(`--${option} must be an integer from 1 to ${max}; got "${text.slice(0, 100)}"`);
}

async function create(
  environment: Environment,
  reference: string,
  { calls, minutes }: { readonly calls: number; readonly minutes: number },
): Promise<void> {
  const key = await withAccounts(environment, (accounts) => findKey(accounts, reference));
  const order = { id: createIds(systemClock)('cap'), key, calls, durationMs: minutes * 60_000 };
  const capture = await withStore(environment, (store) => orderCapture(store, order, now()));
  if (capture === undefined) throw new StartError(`${key.userName}/${key.name} has an open capture; weir captures list shows it`);
  console.log(capture.id);
  console.error(`the next ${calls} calls of ${key.userName}/${key.name} are kept, until ${new Date(capture.untilMs).toISOString()}`);
}

async function list(environment: Environment, json: boolean): Promise<void> {
  const captures = await readStore(environment, (store) => store.listCaptures({ users: 'all', nowMs: systemClock.nowMs() }));
  if (json) return console.log(JSON.stringify(captures, undefined, 2));
  printTable(
    ['ID', 'KEY', 'BY', 'UNTIL', 'CALLS', 'KEPT CALLS'],
    captures.map((each) => [
      each.id,
      inert(`${each.userName}/${each.keyName}`),
      inert(each.createdBy),
      new Date(each.untilMs).toISOString(),
      `${each.taken} of ${each.calls}`,
      each.kept.map(({ callId }) => callId).join(' ') || '-',
    ]),
  );
}

async function show(environment: Environment, callId: string): Promise<void> {
  if (readConfigNaming('readContent', environment)?.console?.readContent !== true)
    throw new StartError('the configuration does not let operators read content; see console.readContent');
  const sealer = openWireSealer(environment);
  const wires = await withStore(environment, (store) => readWires({ store, sealer }, { callId, users: 'all' }, now()));
  if (wires === undefined) throw new StartError(`there is no captured call "${callId}"; weir captures list shows them`);
  console.log(
    JSON.stringify(Object.fromEntries(wireNames.flatMap((name) => (wires[name] === undefined ? [] : [[name, wires[name]]]))), undefined, 2),
  );
}
