import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { InstrumenterContext, StrykerOptions } from '@stryker-mutator/api/core';
import { commonTokens, declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import {
  determineHitLimitReached,
  DryRunStatus,
  MutantRunStatus,
  TestStatus,
  type DryRunResult,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
} from '@stryker-mutator/api/test-runner';

import { collected, collectFile, runCollected, type CollectedTest } from './node-test.ts';

/** Where the changed code looks which change is in force, and counts what it passes. */
const state: InstrumenterContext = ((globalThis as { __stryker__?: InstrumenterContext }).__stryker__ ??= {});

/** Programs that a test starts look here. */
const activeMutantVariable = '__STRYKER_ACTIVE_MUTANT__';

const standIns: Readonly<Record<string, string>> = {
  'node:test': new URL('node-test.ts', import.meta.url).href,
  'fast-check': new URL('fast-check.ts', import.meta.url).href,
};

function activate(mutant: string | undefined): void {
  if (mutant === undefined) {
    delete state.activeMutant;
    delete process.env[activeMutantVariable];
  } else {
    state.activeMutant = mutant;
    process.env[activeMutantVariable] = mutant;
  }
}

/** How often it is looked whether a test still waits for anything, in milliseconds. */
const lookEveryMs = 20;

/** Resolves once nothing but this process's own channels keeps it alive at two looks in a row: a test that is not done by then never ends. */
function becomesIdle(busyBefore: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    let idle = 0;
    const look = setInterval(() => {
      idle = process.getActiveResourcesInfo().length <= busyBefore ? idle + 1 : 0;
      if (idle === 2) done();
    }, lookEveryMs);
    look.unref();
    signal.addEventListener('abort', () => clearInterval(look));
  });
}

/**
 * Runs the tests of some files in this process, again for each change of the code. What a change leaves behind is found by running the test that noticed it once more
 * without the change: a process in which that fails is given up, and the change is tried in a fresh one.
 */
class RepeatingTestRunner implements TestRunner {
  static readonly inject = tokens(commonTokens.options);

  readonly #files: readonly string[];
  readonly #spentMs = new Map<string, number>();
  #fresh = true;
  #spoilt = false;

  constructor(options: StrykerOptions) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- set by run.ts
    this.#files = (options as StrykerOptions & { repeating: { testFiles: string[] } }).repeating.testFiles;
  }

  capabilities() {
    // A module that is imported stays as it is.
    return { reloadEnvironment: false };
  }

  async dryRun(): Promise<DryRunResult> {
    await this.#load();
    const tests: TestResult[] = [];
    for (const test of collected) {
      state.currentTestId = test.id;
      const startedAt = performance.now();
      const failure = await this.#run(test);
      delete state.currentTestId;
      const timeSpentMs = performance.now() - startedAt;
      this.#spentMs.set(test.id, timeSpentMs);
      const result = { id: test.id, name: test.id, timeSpentMs };
      tests.push(
        failure === undefined
          ? { ...result, status: TestStatus.Success }
          : { ...result, status: TestStatus.Failed, failureMessage: failure },
      );
    }
    return { status: DryRunStatus.Complete, tests, mutantCoverage: state.mutantCoverage ?? { static: {}, perTest: {} } };
  }

  async mutantRun({ activeMutant, testFilter, hitLimit, mutantActivation }: MutantRunOptions): Promise<MutantRunResult> {
    if (this.#spoilt) throw new Error('an earlier change has left something behind');
    if (mutantActivation === 'static') activate(activeMutant.id);
    try {
      await this.#load();
    } catch (error) {
      return { status: MutantRunStatus.Killed, killedBy: [collected[0]?.id ?? 'import'], failureMessage: String(error), nrOfTests: 0 };
    }
    const wanted = testFilter === undefined ? collected : collected.filter((test) => testFilter.includes(test.id));
    const tests = wanted.toSorted((a, b) => (this.#spentMs.get(a.id) ?? 0) - (this.#spentMs.get(b.id) ?? 0));
    for (const [index, test] of tests.entries()) {
      activate(activeMutant.id);
      if (hitLimit !== undefined) Object.assign(state, { hitLimit, hitCount: 0 });
      const startedAt = performance.now();
      const failure = await this.#run(test);
      this.#spentMs.set(test.id, Math.min(this.#spentMs.get(test.id) ?? Infinity, performance.now() - startedAt));
      const endless = determineHitLimitReached(state.hitCount, hitLimit);
      activate(undefined);
      delete state.hitLimit;
      if (endless === undefined && failure === undefined) continue;
      if (mutantActivation === 'runtime') await this.#judgeProcess(test);
      this.#fresh = false;
      if (endless !== undefined) return { status: MutantRunStatus.Timeout };
      return { status: MutantRunStatus.Killed, killedBy: [test.id], failureMessage: failure ?? '', nrOfTests: index + 1 };
    }
    this.#fresh = false;
    return { status: MutantRunStatus.Survived, nrOfTests: tests.length };
  }

  /** Imports the tests, once. */
  async #load(): Promise<void> {
    if (collected.length > 0) return;
    registerHooks({
      resolve(specifier, context, next) {
        const url = context.parentURL?.startsWith(import.meta.dirname) === true ? undefined : standIns[specifier];
        return url === undefined || Object.values(standIns).includes(context.parentURL ?? '')
          ? next(specifier, context)
          : { url, shortCircuit: true };
      },
    });
    for (const file of this.#files) await collectFile(file, () => import(pathToFileURL(resolve(file)).href));
  }

  /** What a test fails of; undefined when it passes. */
  async #run(test: CollectedTest): Promise<string | undefined> {
    const over = new AbortController();
    const stray = Promise.withResolvers<never>();
    process.on('uncaughtException', stray.reject).on('unhandledRejection', stray.reject);
    const busyBefore = process.getActiveResourcesInfo().length;
    const never = becomesIdle(busyBefore, over.signal).then(() => {
      throw new Error('waits for what never comes');
    });
    try {
      await Promise.race([runCollected(test), stray.promise, never]);
      // A rejection that nobody awaits is reported a turn later.
      await Promise.race([new Promise(setImmediate), stray.promise]);
      return undefined;
    } catch (error) {
      return String(error);
    } finally {
      over.abort();
      process.off('uncaughtException', stray.reject).off('unhandledRejection', stray.reject);
    }
  }

  /** Looks whether a test that noticed a change passes without it; @throws when it does not and another change was tried here before, which may be why. */
  async #judgeProcess(test: CollectedTest): Promise<void> {
    if ((await this.#run(test)) === undefined) return;
    this.#spoilt = true;
    if (!this.#fresh) throw new Error('an earlier change has left something behind');
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'repeating', RepeatingTestRunner)];
