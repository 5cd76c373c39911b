import { randomBytes } from 'node:crypto';

import type { Command } from 'commander';

import { permissions } from '../../../accounts/people/permissions.ts';
import type { AdminService, ServiceInput } from '../../../admin/service/admin-service.ts';
import type { Operation } from '../../../admin/operation.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { Store } from '../../../store/store.ts';
import { type Environment, StartError } from '../../environment.ts';
import { commandAuthor } from '../name-actor.ts';
import { readStore, withStore } from '../with-accounts.ts';

/** The address of a console. */
export type RemoteOption = { readonly remote?: string };

/** Adds `--remote <address>` to a command that runs over `withService`. */
export function addRemoteOption(command: Command): Command {
  return command.option('--remote <address>', 'runs on the console at this address, with the admin token in WEIR_ADMIN_TOKEN');
}

type Place = RemoteOption & {
  /** The command only reads: it needs only the rights of a monitor. */
  readonly reads?: boolean;
  /** The address for links of a local command. */
  readonly consoleUrl?: string;
};

/**
 * Runs a command over the operations of the admin API: in this process on the store of the data directory, or on a
 * console with `--remote`. Answers and refusals are the same.
 */
export async function withService<Result>(
  environment: Environment,
  { remote, reads = false, consoleUrl = '' }: Place,
  use: (service: AdminService) => Promise<Result>,
): Promise<Result> {
  if (remote !== undefined) return await use(await openRemote(environment, remote));
  const run = async (store: Store): Promise<Result> => use(await openLocal(environment, store, consoleUrl));
  return await (reads ? readStore(environment, run) : withStore(environment, run));
}

/** A person with access to the data directory is an operator. */
async function openLocal(environment: Environment, store: Store, consoleUrl: string): Promise<AdminService> {
  const { createLocalService } = await import('../../../admin/service/local-service.ts');
  const { openAdminServices } = await import('../../assembly/open-admin-services.ts');
  // Cursors are read by the same process, and no operation of a command depends on the configuration.
  const parts = { environment, store, clock: systemClock, config: {}, cursorKey: randomBytes(32) };
  const { services } = openAdminServices(parts, () => consoleUrl);
  const principal = { permissions: new Set(permissions), users: 'all', author: commandAuthor() } as const;
  return createLocalService({ services, principal, clock: systemClock });
}

const adminTokenVariable = 'WEIR_ADMIN_TOKEN';

/** @throws StartError for a wrong address, or without a token */
async function openRemote(environment: Environment, remote: string): Promise<AdminService> {
  const address = readAddress(remote);
  const token = environment.variable(adminTokenVariable);
  if (token === undefined)
    throw new StartError(
      `there is no token for ${address.origin}: set ${adminTokenVariable} to one that weir admin-tokens create has made there`,
    );
  const { createRemoteService } = await import('../../../admin/service/remote-service.ts');
  const { createFetch } = await import('../../egress/create-fetch.ts');
  return createRemoteService({ address, token, send: createFetch(environment.proxies) });
}

const loopbackNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The address of a console. @throws StartError unless it is https, or http on this machine */
function readAddress(text: string): URL {
  const url = URL.parse(text);
  const isSafe = url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && loopbackNames.has(url.hostname)));
  if (!isSafe) throw new StartError(`"${text.slice(0, 200)}" must be an https address, or an http address of this machine`);
  return url;
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
