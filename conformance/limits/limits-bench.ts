import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import { type Accounts, createAccounts } from '../../src/accounts/create-accounts.ts';
import { parseLimits, type WrittenLimits } from '../../src/accounts/parse-limits.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { type FaultBench, type Mode, startFaultBench, startFaultProgram } from '../faults/fault-bench.ts';
import { runCommand } from '../programs/run-command.ts';
import { call, eventually } from '../support/http.ts';
import type { ReceivedReply } from '../support/open-call.ts';
import type { SimulatedProgram, SimulatedWeir, StartSimulatedWeirOptions } from '../support/start-simulated-weir.ts';
import { testAuthor } from '../../src/audit/testing/test-change.ts';

/** A Weir with simulated vendors whose keys and users are limited by its own commands. */
export type LimitsBench<Simulated extends SimulatedWeir = SimulatedWeir> = FaultBench<Simulated> & {
  /** The accounts of the gateway's database. */
  readonly accounts: Accounts;
  /** Runs `weir …` on the gateway's data directory. Fails if the command does. */
  readonly command: (...words: readonly string[]) => Promise<string>;
  /**
   * Makes a key, named `key`, of a user of its own with these limits and returns its secret, once the gateway knows it.
   */
  readonly createKey: (userName: string, options?: WrittenLimits & { readonly strict?: boolean }) => Promise<string>;
};

/** Runs Weir in this process, without the monitor. */
export async function startLimitsBench(options: StartSimulatedWeirOptions = {}): Promise<LimitsBench> {
  return await equip(await startFaultBench({ ...options, weir: { command: 'gateway', ...options.weir } }));
}

/** Runs Weir in a process of its own. */
export async function startLimitsProgram(): Promise<LimitsBench<SimulatedProgram>> {
  return await equip(await startFaultProgram());
}

async function equip<Simulated extends SimulatedWeir>(bench: FaultBench<Simulated>): Promise<LimitsBench<Simulated>> {
  const command = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runCommand(words, { WEIR_DATA_DIR: bench.weir.dataDirectory });
    assert.equal(code, 0, stderr);
    return stdout.trim();
  };
  // Does in this process what a command would do: starting one for each key would take most of the time.
  const store = await openSqliteStore({ path: join(bench.weir.dataDirectory, 'weir.sqlite') });
  const accounts = createAccounts({ store, clock: systemClock, random: randomBytes, author: testAuthor });
  return {
    ...bench,
    accounts,
    command,
    createKey: async (userName, { strict = false, ...written } = {}) => {
      const limits = parseLimits(written, systemClock.nowMs());
      const { secret: key } = await accounts.createApiKey({ userName, name: 'key', strictTranslation: strict, limits });
      await eventually(
        async () => (await call(`${bench.weir.gatewayUrl}/v1/models`, { headers: { 'x-api-key': key } })).json?.error?.code,
        (code) => code !== 'invalid_api_key',
      );
      return key;
    },
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await bench[Symbol.asyncDispose]();
    },
  };
}

/** The headers with a caller's remaining limits, in their vendor's spelling. */
export function standingHeaders({ headers }: Pick<ReceivedReply, 'headers'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (name.includes('ratelimit') ? [[name, String(value)]] : [])),
  );
}

/** Headers of a call by this key. */
export const by = (key: string): { readonly headers: Record<string, string> } => ({ headers: { authorization: `Bearer ${key}` } });

/** A name for the resource of a mode's calls. */
export const nameOf = ({ title }: Mode): string => title.replaceAll(/[^a-z]+/g, '-');
