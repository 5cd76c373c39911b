import { randomBytes } from 'node:crypto';

import { createAccounts } from '../../accounts/create-accounts.ts';
import { createAdminTokens } from '../../accounts/people/admin-tokens.ts';
import { createDeviceSignIns } from '../../accounts/people/devices/device-sign-ins.ts';
import { createKeySessions } from '../../accounts/people/keys/key-sessions.ts';
import { type KeySignInWay, keySignInWays } from '../../accounts/people/keys/key-session.ts';
import { createPasswords } from '../../accounts/people/passwords.ts';
import { createPeople } from '../../accounts/people/people.ts';
import { type RoleSettings, roleSettingsDefault } from '../../accounts/people/permissions-of.ts';
import { createSessions } from '../../accounts/people/sessions.ts';
import { createSignInLimits } from '../../accounts/people/sign-in-limits.ts';
import { createSignIns } from '../../accounts/people/sign-ins.ts';
import { createConversations } from '../../conversations/create-conversations.ts';
import { createFileReader } from '../../tools/file-search/file-library.ts';
import { createPieceSealer } from '../../tools/file-search/piece-sealer.ts';
import { type CallExports, createCallExports } from '../../billing/calls/call-exports.ts';
import { createExportReader } from '../../billing/reconciliation/export-reader.ts';
import { createDraftReader } from '../../billing/price-books/draft-reader.ts';
import { createCursors } from '../../admin/cursor.ts';
import type { AdminServices } from '../../admin/resources/registry.ts';
import type { Clock } from '../../platform/clock.ts';
import { release } from '../../platform/release.ts';
import { createOperations } from '../../control/operations/create-operations.ts';
import { askLimitUse } from '../../control/nodes/ask-limit-use.ts';
import { StatisticsUnavailableError } from '../../billing/statistics/statistics.ts';
import { createLayerSealer } from '../../control/layers/layer-seal.ts';
import { createIds } from '../../platform/ids.ts';
import { deriveKey } from '../../platform/seal/sealer.ts';
import type { Store } from '../../store/store.ts';
import type { Config } from '../config/config-schema.ts';
import { checkConfigText } from '../config/check-text.ts';
import { readConfigNaming } from '../config/find-config.ts';
import { loadConfig } from '../config/load-config.ts';
import { pricesOf } from '../config/prices-schema.ts';
import { creditUnitOf } from '../config/read-credit-unit.ts';
import type { Environment } from '../environment.ts';
import { createCallbackVault } from '../../tasks/callbacks/callback-vault.ts';
import { openMediaLater } from './open-media-storage.ts';
import { openWireSealer } from './content/open-captures.ts';
import { createLayerDesk } from './create-layer-desk.ts';
import { openPlaygroundKeys, openPlaygroundRelay } from './open-playground.ts';
import { createPriceDesk } from './create-price-desk.ts';
import { loadStoreKey } from './load-store-key.ts';
import { readRetention, withArchivedCalls } from './run-archiving.ts';
import type { QuestionStore } from './open-question-store.ts';

export type AdminServiceParts = {
  readonly environment: Environment;
  readonly store: Store;
  readonly clock: Clock;
  /** Default: that of the file. */
  readonly config?: Config;
  /** Whether this program publishes layers if its file does not say so. Default: false. */
  readonly editsConfig?: boolean;
  /** Default: derived from the key of the data directory, so that all processes read the same cursors. */
  readonly cursorKey?: Uint8Array;
  /** Whether the store is open for reading only. Default: false. */
  readonly isReadOnly?: boolean;
};

/** Parts of a process that serves. Operations that a local command begins run in a console or a gateway. */
export type ServingParts = {
  readonly ending: AbortSignal;
  /** Called when an operation was begun, so that runners of this process look at once. */
  readonly onOperation?: () => void;
  /** The address of the gateway of this process; absent if it has none. */
  readonly gatewayUrl?: string | undefined;
  /** Answers long questions. Absent: the store does. */
  readonly questions?: QuestionStore;
  /** Makes workbooks beside the event loop. Absent: there are none. */
  readonly workbooks?: AdminServices['workbooks'];
  /** Makes exports of calls beside the event loop. Absent: they are made in it. */
  readonly callExports?: CallExports;
};

/** The services of layers. None of them opens a credential. */
function layerServices({
  environment,
  store,
  editsConfig = false,
}: Pick<AdminServiceParts, 'environment' | 'store' | 'editsConfig'>): Pick<AdminServices, 'configLayers' | 'layerSealer' | 'layerDesk'> {
  const layerSealer = () => createLayerSealer(loadStoreKey(environment));
  return { configLayers: store, layerSealer, layerDesk: createLayerDesk(environment, editsConfig) };
}

/** People, the ways in which they, machines and keys sign in, and admin tokens. */
function openPeople(
  own: { readonly store: Store; readonly clock: Clock; readonly random: typeof randomBytes; readonly ids: (prefix: string) => string },
  { passwords = true, oidc, signIn = [] }: NonNullable<Config['console']>,
  roles: RoleSettings,
) {
  const sessions = createSessions(own);
  // Each has counters of its own, so that none uses up the tries of another.
  const limits = () => createSignInLimits(own.clock);
  const keys = listKeyWays(signIn);
  return {
    people: createPeople({ ...own, passwords }),
    sessions,
    signIns: createSignIns({ ...own, sessions, passwords: createPasswords(randomBytes), limits: limits() }),
    ways: { passwords, keys, ...(oidc === undefined ? {} : { provider: oidc.issuer }) },
    keySessions: createKeySessions({ ...own, limits: limits(), ways: keys, settings: () => roles }),
    adminTokens: createAdminTokens(own),
    deviceSignIns: createDeviceSignIns({ ...own, limits: limits() }),
  };
}

/** The people, tokens and books as the operations of the admin API use them: in the console, and in a local command. */
export function openAdminServices(
  { store, clock, environment, ...given }: AdminServiceParts,
  consoleUrl: () => string,
  serving: ServingParts = { ending: new AbortController().signal },
) {
  const config = given.config ?? loadConfig(environment.configPath, environment).config;
  const ids = createIds(clock);
  const roles: RoleSettings = { ...roleSettingsDefault, ...config.console };
  const accounts = openPeople({ store, clock, random: randomBytes, ids }, config.console ?? {}, roles);
  const reading = withArchivedCalls({ environment, store });
  const draftReader = createDraftReader();
  const exportReader = createExportReader();
  const services: AdminServices = {
    ...accounts,
    consoleUrl,
    about: describeProgram(config),
    cursors: createCursors(given.cursorKey ?? deriveKey(loadStoreKey(environment), 'admin cursors')),
    accountsBy: (author) => createAccounts({ store, clock, random: randomBytes, author }),
    random: randomBytes,
    audit: store,
    refusals: store,
    standing: store,
    limitUse: (owners, wait) => askLimitUse(store, owners, { ...wait, clock }),
    callbacks: store,
    callbackVault: createCallbackVault({ store, key: loadStoreKey(environment), randomBytes, clock }),
    remains: store,
    tasks: store,
    stored: store,
    savedViews: store,
    reconciliations: store,
    exportReader,
    conversations: createConversations({ store, key: loadStoreKey(environment), clock }),
    readFile: createFileReader(store, createPieceSealer(loadStoreKey(environment))),
    media: openMediaLater({ config: config.mediaStorage, environment, store }),
    priceBooks: store,
    priceDrafts: store,
    priceDesk: createPriceDesk(environment),
    draftReader,
    newId: ids,
    calls: { ...reading, ...serving.questions },
    content: store,
    teams: store,
    contentCeiling: () => readConfigNaming('content', environment)?.content?.ceiling ?? 'off',
    captures: store,
    wireSealer: () => openWireSealer(environment),
    playgroundKeys: openPlaygroundKeys({ environment, store, clock }),
    playgroundRelay: openPlaygroundRelay(config.console?.gatewayUrl ?? serving.gatewayUrl),
    ...answerServices(serving, store),
    credits: store,
    ...(given.isReadOnly !== true && { keepVerification: store.keepVerification }),
    ledger: reading,
    archives: store,
    isRetaining: () => readRetention(environment) !== undefined,
    accounts: store,
    control: store,
    alerts: store,
    ...layerServices({ environment, store, ...given }),
    checkConfig: checkConfigText,
    operations: createOperations({ store, clock, newId: ids, ...(serving.onOperation !== undefined && { onStart: serving.onOperation }) }),
    ending: serving.ending,
  };
  return {
    services: { ...services, ...accounts },
    roles,
    config,
    close: async () => void (await Promise.all([draftReader.close(), exportReader.close()])),
  };
}

/** Long questions and their files: beside the event loop in a program that serves, else in it. */
function answerServices(
  { questions, workbooks, callExports }: ServingParts,
  store: Store,
): Pick<AdminServices, 'usage' | 'statistics' | 'workbooks' | 'callExports'> {
  return {
    usage: questions ?? store,
    statistics: questions ?? store,
    workbooks: workbooks ?? noWorkbooks,
    callExports: callExports ?? createCallExports(questions ?? store),
  };
}

/** No command asks for one: `weir usage` prints the same records. */
const noWorkbooks: AdminServices['workbooks'] = {
  open: () => Promise.reject(new StatisticsUnavailableError(new Error('this program makes no workbooks'))),
};

function describeProgram({ timeZone = 'UTC', prices }: Config): AdminServices['about'] {
  const creditUnit = creditUnitOf(pricesOf(prices));
  return { timeZone, version: release.version, ...(creditUnit !== undefined && { creditUnit }) };
}

/** The ways of the configuration as the API names them. */
function listKeyWays(signIn: readonly string[]): readonly KeySignInWay[] {
  const names = { api_key: 'apiKey', billing_token: 'billingToken' } as const satisfies Record<KeySignInWay, string>;
  return keySignInWays.filter((way) => signIn.includes(names[way]));
}
