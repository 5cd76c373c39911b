import type { Command } from 'commander';

import { createCapture, deleteCapture, getWires, listCaptures } from '../../admin/resources/captures/capture-operations.ts';
import { captureLimits } from '../../content/captures/capture.ts';
import { type Environment, StartError } from '../environment.ts';
import { findKey } from './find-keys.ts';
import { contentDenied, wordRefusal } from './remote/problems.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

const minutesMax = captureLimits.durationMs / 60_000;

type CreateOptions = RemoteOption & { readonly key: string; readonly calls: string; readonly minutes: string };
type ListOptions = RemoteOption & { readonly json?: boolean };

/** Adds `weir captures …`: calls of one key as they are on the wire, for debugging. */
export function addCaptureCommands(program: Command, environment: Environment): void {
  const captures = program.command('captures').description('calls of one key as they are on the wire, kept for a day for debugging');
  addRemoteOption(captures.command('create'))
    .description('keeps the next calls of a key; its owner sees that, and it is in the audit log')
    .requiredOption('--key <key>', 'id, or user/name')
    .option('--calls <n>', `the most calls, up to ${captureLimits.calls}`, '10')
    .option('--minutes <n>', `for how long, up to ${minutesMax}`, '15')
    .action((options: CreateOptions) => create(environment, options));
  addRemoteOption(captures.command('list'))
    .description('lists captures of the last day, and the calls that are kept')
    .option('--json', 'as JSON')
    .action((options: ListOptions) => list(environment, options));
  addRemoteOption(captures.command('delete'))
    .description('ends a capture and deletes the calls that it has kept')
    .argument('<capture>', 'its id')
    .action((id: string, place: RemoteOption) => remove(environment, id, place));
  addRemoteOption(captures.command('show'))
    .description('prints the four wires of a captured call as JSON; needs console.readContent, and is in the audit log')
    .argument('<call>', 'the id of the call')
    .action((callId: string, place: RemoteOption) => show(environment, callId, place));
}

function readNumber(option: string, text: string, max: number): number {
  const value = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= max) return value;
  throw new StartError(`--${option} must be an integer from 1 to ${max}; got "${text.slice(0, 100)}"`);
}

async function create(environment: Environment, { key: reference, calls, minutes, ...place }: CreateOptions): Promise<void> {
  const order = { calls: readNumber('calls', calls, captureLimits.calls), minutes: readNumber('minutes', minutes, minutesMax) };
  await withService(environment, place, async (service) => {
    const key = await findKey(service, reference);
    const isOpen = () => new StartError(`${key.user}/${key.name} has an open capture; weir captures list shows it`);
    const { body: capture } = await wordRefusal(service.call(createCapture, { body: { key_id: key.id, ...order } }), 'conflict', isOpen);
    console.log(capture.id);
    console.error(`the next ${order.calls} calls of ${key.user}/${key.name} are kept, until ${capture.until}`);
  });
}

async function list(environment: Environment, { json, ...place }: ListOptions): Promise<void> {
  const { items } = (await withService(environment, { ...place, reads: true }, (service) => service.call(listCaptures))).body;
  if (json === true) return printItems(items);
  printTable(
    ['ID', 'KEY', 'BY', 'UNTIL', 'CALLS', 'KEPT CALLS'],
    items.map(({ id, user, key, created_by, until, taken, calls, kept }) => [
      id,
      inert(`${user}/${key}`),
      inert(created_by),
      until,
      `${taken} of ${calls}`,
      kept.map(({ call_id }) => call_id).join(' ') || '-',
    ]),
  );
}

async function remove(environment: Environment, id: string, place: RemoteOption): Promise<void> {
  const unknown = () => new StartError(`there is no capture "${id}"; weir captures list shows them`);
  await withService(environment, place, (service) => wordRefusal(service.call(deleteCapture, { params: { id } }), 'not_found', unknown));
  console.error(`deleted ${id}`);
}

async function show(environment: Environment, callId: string, place: RemoteOption): Promise<void> {
  const reading = withService(environment, { ...place, readsContent: true }, (service) =>
    service.call(getWires, { params: { id: callId } }),
  );
  const unknown = () => new StartError(`there is no captured call "${callId}"; weir captures list shows them`);
  const { body: wires } = await wordRefusal(wordRefusal(reading, 'not_found', unknown), 'permission_required', contentDenied);
  printItems(wires);
}
