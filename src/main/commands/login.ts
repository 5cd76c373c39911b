import { hostname } from 'node:os';

import type { Command } from 'commander';

import { createSignIn } from '../../admin/resources/device-sign-ins/device-sign-in-operations.ts';
import { revokeOwnToken } from '../../admin/resources/admin-tokens/admin-token-operations.ts';
import { AdminProblem } from '../../admin/problem.ts';
import type { AdminService } from '../../admin/service/admin-service.ts';
import { createRemoteService } from '../../admin/service/remote-service.ts';
import { systemClock } from '../../platform/clock.ts';
import { createFetch } from '../egress/create-fetch.ts';
import { type Environment, StartError } from '../environment.ts';
import { readLifetime, readPermission } from './admin-tokens.ts';
import { nameActor } from './name-actor.ts';
import { onlyAddress } from './remote/choose-console.ts';
import { nameAddress, readAddress } from './remote/read-address.ts';
import { openStoredTokens, type StoredTokens } from './remote/stored-tokens.ts';
import { waitForToken } from './remote/wait-for-token.ts';
import { printItems } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

type LoginOptions = {
  readonly list?: true;
  readonly json?: true;
  readonly name?: string;
  readonly permission?: readonly string[];
  readonly expires: string;
};

/** Adds `weir login` and `weir logout`: tokens for commands with `--remote`. */
export function addLoginCommands(program: Command, environment: Environment): void {
  program
    .command('login')
    .description('signs this account in to the console of another machine, for commands with --remote')
    .argument('[address]', 'address of the console: https://console.example')
    .option('--name <name>', 'the name of the token; default: account and machine')
    .option('--permission <name...>', 'ask for these permissions; without this option for all that need no recent sign-in')
    .option('--expires <time>', 'how long to stay signed in, at most 90 days: 12h, 30d', '90d')
    .option('--list', 'lists the consoles where this account is signed in')
    .option('--json', 'with --list: as JSON')
    .action((address: string | undefined, options: LoginOptions) => {
      if (options.list === true) return listLogins(openStoredTokens(environment), options.json === true);
      if (address === undefined) throw new StartError('name the address of the console: weir login https://console.example');
      return login(environment, readAddress(address), options);
    });
  program
    .command('logout')
    .description('ends the sign-in of this account at a console, and removes its token here')
    .argument('[address]', 'address of the console; default: the one of weir login --list, if it is the only one')
    .option('--forget', 'only remove the token here, without asking the console')
    .action((address: string | undefined, { forget }: { readonly forget?: true }) => {
      const tokens = openStoredTokens(environment);
      return logout(environment, tokens, address === undefined ? onlyAddress(tokens.addresses()) : readAddress(address), forget === true);
    });
}

/** A request must not outlast the patience of a person who waits. */
const timeoutMs = 15_000;
const nameCharactersMax = 64;
const lastsSecondsMax = 90 * 86_400;

function connect(
  environment: Environment,
  address: URL,
  options: { readonly token?: string; readonly signal?: AbortSignal },
): AdminService {
  return createRemoteService({ address, ...options, timeoutMs, send: createFetch(environment.proxies) });
}

async function login(environment: Environment, address: URL, { name, permission, expires }: LoginOptions): Promise<void> {
  const lasts_s = readLifetime(expires);
  if (lasts_s > lastsSecondsMax) throw new StartError(`--expires must be at most 90d for a login; got "${expires}"`);
  const permissions = permission?.map(readPermission);
  const tokens = openStoredTokens(environment);
  // Before anybody is asked to approve.
  tokens.prepare();
  const previous = readPrevious(tokens, address);
  const leaving = new AbortController();
  const leave = (): void => leaving.abort(new StartError('not signed in: interrupted'));
  process.once('SIGINT', leave).once('SIGTERM', leave);
  try {
    const service = connect(environment, address, { signal: leaving.signal });
    const body = { client_name: name ?? nameMachine(), lasts_s, ...(permissions !== undefined && { permissions }) };
    const { body: begun } = await service.call(createSignIn, { body });
    console.error(`open    ${inert(begun.verification_uri_complete)}`);
    console.error(`and approve the code ${inert(begun.user_code)}`);
    console.error(`or run  weir console approve ${inert(begun.user_code)}  on the machine of the console`);
    const fetched = await waitForToken({
      service,
      deviceCode: begun.device_code,
      intervalMs: begun.interval * 1000,
      lifetimeMs: begun.expires_in * 1000,
      signal: leaving.signal,
      clock: systemClock,
      report: (reason) => console.error(`${inert(reason)} Waiting for it…`),
    });
    const { access_token: token, token: described } = fetched;
    await store(environment, tokens, address, { token, id: described.id, name: described.name, expires_at: described.expires_at });
    if (previous !== undefined) await endPrevious(environment, address, previous);
    console.error(`signed in at ${nameAddress(address)} as ${inert(described.name)}, until ${inert(described.expires_at)}`);
    if (environment.variable('WEIR_ADMIN_TOKEN') !== undefined)
      console.error('WEIR_ADMIN_TOKEN is set: commands use its token, not this one');
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave);
  }
}

/** A token that cannot be stored would stay valid without being of use. */
async function store(
  environment: Environment,
  tokens: StoredTokens,
  address: URL,
  stored: Parameters<StoredTokens['write']>[1],
): Promise<void> {
  try {
    tokens.write(address, stored);
  } catch (error) {
    await connect(environment, address, { token: stored.token }).call(revokeOwnToken);
    throw error;
  }
}

/** The token that a new login replaces. A token that cannot be read cannot be ended. */
function readPrevious(tokens: StoredTokens, address: URL): string | undefined {
  try {
    return tokens.read(address, { evenIfShared: true })?.token;
  } catch (error) {
    if (error instanceof StartError) return undefined;
    throw error;
  }
}

async function endPrevious(environment: Environment, address: URL, token: string): Promise<void> {
  const ended = await end(environment, address, token);
  if (ended !== true) console.error(`the token before this one was not ended: ${inert(ended)}`);
}

/** Ends a token on its console; true if it has ended, else why not. */
async function end(environment: Environment, address: URL, token: string): Promise<true | string> {
  try {
    await connect(environment, address, { token }).call(revokeOwnToken);
    return true;
  } catch (error) {
    if (!(error instanceof AdminProblem)) throw error;
    // It has expired, or was deleted on the console.
    return error.code === 'unauthenticated' || error.message;
  }
}

async function logout(environment: Environment, tokens: StoredTokens, address: URL, isForgotten: boolean): Promise<void> {
  const name = nameAddress(address);
  const token = readPrevious(tokens, address);
  if (token === undefined) {
    if (!tokens.remove(address)) throw new StartError(`this account is not signed in at ${name}; weir login --list shows where it is`);
    console.error(`removed a file without a readable token; weir admin-tokens list on the console shows whether one is left`);
    return;
  }
  const ended = isForgotten || (await end(environment, address, token));
  if (ended !== true) throw new StartError(`still signed in at ${name}: ${inert(ended)} With --forget the token is only removed here`);
  tokens.remove(address);
  console.error(isForgotten ? `removed the token for ${name} here; it works until it expires` : `signed out at ${name}`);
}

type ListedLogin = {
  readonly address: string;
  readonly name: string | null;
  readonly expires_at: string | null;
  readonly problem: string | null;
};

function listLogins(tokens: StoredTokens, isJson: boolean): void {
  const logins = tokens.addresses().map((address) => describeLogin(tokens, address));
  if (isJson) printItems(logins);
  else
    printTable(
      ['ADDRESS', 'NAME', 'EXPIRES', 'PROBLEM'],
      logins.map(({ address, name, expires_at, problem }) => [address, inert(name ?? '-'), inert(expires_at ?? '-'), problem ?? '-']),
    );
}

function describeLogin(tokens: StoredTokens, address: string): ListedLogin {
  try {
    const stored = tokens.read(new URL(address));
    return { address, name: stored?.name ?? null, expires_at: stored?.expires_at ?? null, problem: null };
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return { address, name: null, expires_at: null, problem: error.message };
  }
}

/** Account and machine as a name of a token, which has letters, digits, spaces and `. _ - @ +`. */
function nameMachine(): string {
  const text = `${nameActor()}@${hostname()}`.normalize('NFC').replaceAll(/[^\p{L}\p{M}\p{N} ._@+-]/gu, '-');
  return Array.from(text.replace(/^[^\p{L}\p{N}]+/u, ''))
    .slice(0, nameCharactersMax)
    .join('')
    .trimEnd();
}
