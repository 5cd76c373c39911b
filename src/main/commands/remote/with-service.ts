import { randomBytes } from 'node:crypto';

import type { Command } from 'commander';

import { permissions } from '../../../accounts/people/permissions.ts';
import type { AdminService, ServiceInput } from '../../../admin/service/admin-service.ts';
import type { Operation } from '../../../admin/operation.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { Store } from '../../../store/store.ts';
import type { Config } from '../../config/config-schema.ts';
import { type Environment, StartError } from '../../environment.ts';
import { commandAuthor } from '../name-actor.ts';
import { readStore, withStore } from '../with-accounts.ts';
import { wordRefusal } from './problems.ts';
import { nameAddress } from './read-address.ts';

/** The address of a console; true for the one where this account is signed in. */
export type RemoteOption = { readonly remote?: string | true };

/** Adds `--remote <address>` to a command that runs over `withService`. */
export function addRemoteOption(command: Command): Command {
  return command.option('--remote [address]', 'runs on the console at this address, with the token of weir login or in WEIR_ADMIN_TOKEN');
}

type Place = RemoteOption & {
  /** The command only reads: it needs only the rights of a monitor. */
  readonly reads?: boolean;
  /** The address for links of a local command. */
  readonly consoleUrl?: string;
  /** The command needs the zone of statistics and the unit of credits, which the configuration names. */
  readonly readsZone?: boolean;
  /** The command reads content of users, which the configuration must allow. */
  readonly readsContent?: boolean;
};

/**
 * Runs a command over the operations of the admin API: in this process on the store of the data directory, or on a
 * console with `--remote`. Answers and refusals are the same.
 */
export async function withService<Result>(
  environment: Environment,
  { remote, ...place }: Place,
  use: (service: AdminService) => Promise<Result>,
): Promise<Result> {
  if (remote !== undefined) return await useRemote(environment, remote, use);
  const run = async (store: Store): Promise<Result> => use(await openLocal(environment, store, place));
  return await (place.reads === true ? readStore(environment, run) : withStore(environment, run));
}

/** A person with access to the data directory is an operator, who reads content only if the configuration lets it. */
async function openLocal(
  environment: Environment,
  store: Store,
  { consoleUrl = '', readsContent = false, readsZone = false, reads = false }: Place,
): Promise<AdminService> {
  const { createLocalService } = await import('../../../admin/service/local-service.ts');
  const { openAdminServices } = await import('../../assembly/open-admin-services.ts');
  // Cursors are read by the same process, and no other operation of a command depends on the configuration.
  const config = readsZone ? await readZone(environment) : {};
  // A person with access to the data directory may publish, unless the file forbids it.
  const parts = { environment, store, clock: systemClock, config, cursorKey: randomBytes(32), editsConfig: true, isReadOnly: reads };
  const { services } = openAdminServices(parts, () => consoleUrl);
  const mayReadContent = readsContent && (await allowsContent(environment));
  const granted = permissions.filter((permission) => permission !== 'content:read' || mayReadContent);
  const principal = { permissions: new Set(granted), users: 'all', author: commandAuthor() } as const;
  return createLocalService({ services, principal, clock: systemClock });
}

/** The configuration is loaded where it is needed: a command on a console needs none. */
async function allowsContent(environment: Environment): Promise<boolean> {
  const { readConfigNaming } = await import('../../config/find-config.ts');
  return readConfigNaming('readContent', environment)?.console?.readContent === true;
}

async function readZone(environment: Environment): Promise<Pick<Config, 'timeZone' | 'prices'>> {
  const { loadConfig } = await import('../../config/load-config.ts');
  const { timeZone, prices } = loadConfig(environment.configPath, environment).config;
  return { ...(timeZone !== undefined && { timeZone }), ...(prices !== undefined && { prices }) };
}

/** Runs a command on a console, with the token in the environment or that of `weir login`. */
async function useRemote<Result>(
  environment: Environment,
  remote: string | true,
  use: (service: AdminService) => Promise<Result>,
): Promise<Result> {
  const { chooseConsole } = await import('./choose-console.ts');
  const { address, token, isStored } = chooseConsole(environment, remote);
  const { createRemoteService } = await import('../../../admin/service/remote-service.ts');
  const { createFetch } = await import('../../egress/create-fetch.ts');
  const used = use(createRemoteService({ address, token, send: createFetch(environment.proxies) }));
  if (!isStored) return await used;
  const again = `the sign-in at ${nameAddress(address)} has ended: sign in again with weir login ${nameAddress(address)}`;
  return await wordRefusal(used, 'unauthenticated', () => new StartError(again));
}

const pageRows = 500;

/** All items of a list, page by page, up to a number of them. */
export async function listAll<Services, Params, Query extends { readonly cursor?: string; readonly limit?: number }, Body, Item>(
  service: AdminService,
  operation: Operation<Services, Params, Query, Body, { items: Item[]; next_cursor: string | null; as_of: string }>,
  query: NoInfer<Query>,
  itemsMax = Infinity,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let cursor: string | undefined; ;) {
    const limit = Math.min(pageRows, itemsMax - items.length);
    const input: ServiceInput<Params, Query, Body> = { query: { ...query, limit, ...(cursor === undefined ? {} : { cursor }) } };
    const { body } = await service.call(operation, input);
    items.push(...body.items);
    if (body.next_cursor === null || items.length >= itemsMax) return items;
    cursor = body.next_cursor;
  }
}

/** Prints the items of a list as the API has them. */
export function printItems(items: unknown): void {
  console.log(JSON.stringify(items, undefined, 2));
}
