import type { Command } from 'commander';

import { type MoneyStanding, type Standing, standingOf } from '../../billing/credits/standing.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Store } from '../../store/store.ts';
import { type Environment, StartError } from '../environment.ts';
import { findUserName, printTable, readStore } from './with-accounts.ts';

type Options = { readonly key?: string; readonly model?: string; readonly json?: boolean };

/** Adds `weir credits standing`: each limit of a user or a key, what of it is used, and when it is free again. */
export function addStandingCommand(credits: Command, environment: Environment): void {
  credits
    .command('standing')
    .description('each limit of a user, its team and the organization, how much of it is used, and when it is free again')
    .argument('<user>')
    .option('--key <name>', 'with the limits of this key of the user')
    .option('--model <name>', 'and whether this model may be called')
    .option('--json', 'as JSON')
    .action(async (user: string, options: Options) => {
      const standing = await readStore(environment, (store) => read(store, user, options));
      if (options.json === true) return console.log(JSON.stringify(toJson(standing), undefined, 2));
      printTable(['LEVEL', 'LIMIT', 'MOST', 'USED', 'RESERVED', 'LEFT', 'FREE AT'], rowsOf(standing));
      if (standing.model !== undefined) console.log(describeModel(standing.model));
    });
}

async function read(store: Store, user: string, { key: keyName, model }: Options): Promise<Standing> {
  const userName = await findUserName(store, user);
  const key =
    keyName === undefined
      ? undefined
      : (await store.listApiKeys()).find((each) => each.userName === userName && each.name === keyName.normalize('NFC'));
  if (keyName !== undefined && key === undefined) throw new StartError(`${userName} has no key named "${keyName}"`);
  const standing = await standingOf(store, { userName, keyId: key?.id, model }, systemClock.nowMs());
  if (standing === undefined) throw new StartError(`there is no user "${user}" any more`);
  return standing;
}

function rowsOf({ money, rates, expires }: Standing): readonly (readonly string[])[] {
  return [
    ...money.map(({ level, of, limitNanoUsd, spentNanoUsd, reservedNanoUsd, leftNanoUsd, resetsAtMs }) => [
      level,
      of === 'balance' ? 'balance' : `USD, ${of}`,
      usdDecimal(limitNanoUsd),
      spentNanoUsd === undefined ? '-' : usdDecimal(spentNanoUsd),
      usdDecimal(reservedNanoUsd),
      usdDecimal(leftNanoUsd),
      resetsAtMs === undefined ? '-' : new Date(resetsAtMs).toISOString(),
    ]),
    // Gateways count these for themselves.
    ...rates.map(({ level, of, limit }) => [level, of === 'concurrency' ? of : `${of} a minute`, String(limit), '-', '-', '-', '-']),
    ...(expires === undefined ? [] : [[expires.level, 'expires', new Date(expires.atMs).toISOString(), '-', '-', '-', '-']]),
  ];
}

function describeModel({ name, refusedBy }: NonNullable<Standing['model']>): string {
  return refusedBy === undefined ? `${name} may be called` : `${name} may not be called: the ${refusedBy} does not allow it`;
}

function toJson({ money, ...standing }: Standing): object {
  const amount = ({ level, of, limitNanoUsd, spentNanoUsd, reservedNanoUsd, leftNanoUsd, resetsAtMs }: MoneyStanding) => ({
    level,
    of,
    limit_usd: usdDecimal(limitNanoUsd),
    ...(spentNanoUsd !== undefined && { spent_usd: usdDecimal(spentNanoUsd) }),
    reserved_usd: usdDecimal(reservedNanoUsd),
    left_usd: usdDecimal(leftNanoUsd),
    ...(resetsAtMs !== undefined && { resets_at: new Date(resetsAtMs).toISOString() }),
  });
  return { ...standing, money: money.map(amount) };
}
