import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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

/** The variables by which the changed code selects the active change, and counts passes. */
const state: InstrumenterContext = ((globalThis as { __stryker__?: InstrumenterContext }).__stryker__ ??= {});

/** Programs that a test starts read this. */
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

/** In the copy of the repository that is changed: the results of the first run, for later processes. */
const usualTimesFile = 'usual-times.json';

/** Saved before a test replaces them. */
const { setInterval: startLooking, clearInterval: stopLooking } = globalThis;

/** The assumed time of a test that this process has not run yet, in milliseconds. */
const slowestMs = 30_000;
/** The interval of the checks whether a test still waits for anything, in milliseconds. */
const lookEveryMs = 20;
/**
 * The number of checks after which a test that only waits for time is cancelled: about three seconds more than its
 * usual time. Checks are counted because on a busy machine a second is little.
 */
const looksMost = 150;

/** After this many consecutive checks without activity, nothing will happen any more. */
const idleLooksMost = 5;

/** Whether a resource shows that work is in progress here; channels to the parent process exist as long as it lives. */
function isUnderWay(resource: string): boolean {
  return !/^(?:Pipe|PipeWrap|TCPSocketWrap|TTYWrap)$/.test(resource);
}

/**
 * Rejects if a test waits for nothing: only this process's own channels keep it alive, or it takes far longer than
 * usual.
 * @param usualMs the usual time of the test
 */
function waitsInVain(usualMs: number, signal: AbortSignal): Promise<never> {
  const looksMax = looksMost + (4 * usualMs) / lookEveryMs;
  return new Promise((_, reject) => {
    let looks = 0;
    let idle = 0;
    const look = startLooking(() => {
      looks += 1;
      idle = process.getActiveResourcesInfo().some(isUnderWay) ? 0 : idle + 1;
      if (idle === idleLooksMost || looks > looksMax) reject(new Error('waits for nothing'));
    }, lookEveryMs);
    look.unref();
    signal.addEventListener('abort', () => stopLooking(look));
  });
}

/**
 * Runs the tests of some files in this process, again for each change of the code. To detect the leftovers of a change,
 * the test that noticed it runs once more without the change. If that fails, the process is replaced, and the change is
 * tested in a new one.
 */
class RepeatingTestRunner implements TestRunner {
  static readonly inject = tokens(commonTokens.options);

  readonly #files: readonly string[];
  readonly #skip: RegExp | undefined;
  /** The time of each test, in milliseconds. */
  readonly #usualMs: Map<string, number>;
  #fresh = true;
  #spoilt = false;

  constructor(options: StrykerOptions) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- set by run.ts
    const { testFiles, skip } = (options as StrykerOptions & { repeating: { testFiles: string[]; skip: string } }).repeating;
    this.#files = testFiles;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written below
    this.#usualMs = new Map(existsSync(usualTimesFile) ? (JSON.parse(readFileSync(usualTimesFile, 'utf8')) as [string, number][]) : []);
    this.#skip = skip === '' ? undefined : new RegExp(skip);
  }

  capabilities() {
    // An imported module is not reloaded.
    return { reloadEnvironment: false };
  }

  async dryRun(): Promise<DryRunResult> {
    await this.#load();
    const tests: TestResult[] = [];
    for (const test of collected.filter(({ id }) => this.#skip?.test(id) !== true)) {
      state.currentTestId = test.id;
      const startedAt = performance.now();
      const failure = await this.#run(test);
      delete state.currentTestId;
      const timeSpentMs = performance.now() - startedAt;
      const result = { id: test.id, name: test.id, timeSpentMs };
      tests.push(
        failure === undefined
          ? { ...result, status: TestStatus.Success }
          : { ...result, status: TestStatus.Failed, failureMessage: failure },
      );
    }
    writeFileSync(usualTimesFile, JSON.stringify([...this.#usualMs]));
    return { status: DryRunStatus.Complete, tests, mutantCoverage: state.mutantCoverage ?? { static: {}, perTest: {} } };
  }

  async mutantRun({ activeMutant, testFilter = [], hitLimit }: MutantRunOptions): Promise<MutantRunResult> {
    if (this.#spoilt) throw new Error('an earlier change has left state behind');
    await this.#load();
    const tests = collected
      .filter((test) => testFilter.includes(test.id))
      .toSorted((a, b) => (this.#usualMs.get(a.id) ?? 0) - (this.#usualMs.get(b.id) ?? 0));
    for (const [index, test] of tests.entries()) {
      activate(activeMutant.id);
      Object.assign(state, { hitLimit, hitCount: 0 });
      const failure = await this.#run(test);
      const endless = determineHitLimitReached(state.hitCount, hitLimit);
      activate(undefined);
      delete state.hitLimit;
      if (endless === undefined && failure === undefined) continue;
      await this.#judgeProcess(test);
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

  /** The failure of a test; undefined if it passes. */
  async #run(test: CollectedTest): Promise<string | undefined> {
    const over = new AbortController();
    const startedAt = performance.now();
    const usualMs = this.#usualMs.get(test.id) ?? slowestMs;
    const stray = Promise.withResolvers<never>();
    process.on('uncaughtException', stray.reject).on('unhandledRejection', stray.reject);
    try {
      await Promise.race([runCollected(test), stray.promise, waitsInVain(usualMs, over.signal)]);
      // An unhandled rejection is reported a turn later.
      await Promise.race([new Promise(setImmediate), stray.promise]);
      this.#usualMs.set(test.id, Math.min(usualMs, performance.now() - startedAt));
      return undefined;
    } catch (error) {
      return String(error);
    } finally {
      over.abort();
      process.off('uncaughtException', stray.reject).off('unhandledRejection', stray.reject);
    }
  }

  /**
   * Checks whether a test that noticed a change passes without it; @throws if it does not and another change was tested
   * here before, which may be the cause.
   */
  async #judgeProcess(test: CollectedTest): Promise<void> {
    if ((await this.#run(test)) === undefined) return;
    this.#spoilt = true;
    if (!this.#fresh) throw new Error('an earlier change has left state behind');
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'repeating', RepeatingTestRunner)];
