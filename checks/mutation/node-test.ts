import { mock } from 'node:test';

/**
 * The functions of `node:test` that the unit tests of src/billing use, in a form that can run repeatedly in one
 * process. So a change of the code takes the time of its tests, and not that of starting a process. Replaces
 * `node:test` while mutations run.
 */

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its class has no other name
const MockTracker = mock.constructor as new () => typeof mock;

type Hook = () => unknown;

/** A file or a `describe`: the hooks of its tests. */
type Suite = { readonly name: string; readonly parent: Suite | undefined; readonly beforeEach: Hook[]; readonly afterEach: Hook[] };

/** The context of a test. */
type Context = { readonly after: (hook: Hook) => void; readonly mock: typeof mock; readonly diagnostic: (text: string) => void };

type TestBody = (context: Context) => unknown;

/** A test as it was declared; its id is unique. */
export type CollectedTest = { readonly id: string; readonly suite: Suite; readonly body: TestBody };

export const collected: CollectedTest[] = [];

let suite: Suite | undefined;

function current(): Suite {
  if (suite === undefined) throw new Error('a test is declared outside of a file');
  return suite;
}

function within(name: string, declare: () => void): void {
  const parent = suite;
  suite = { name, parent, beforeEach: [], afterEach: [] };
  try {
    declare();
  } finally {
    suite = parent;
  }
}

/** Collects the tests of a file that `load` imports. */
export async function collectFile(name: string, load: () => Promise<unknown>): Promise<void> {
  suite = { name, parent: undefined, beforeEach: [], afterEach: [] };
  await load();
  suite = undefined;
}

export function describe(name: string, declare: () => void): void {
  within(name, declare);
}

export function test(name: string, ...rest: readonly unknown[]): void {
  const body = rest.at(-1);
  if (typeof body !== 'function') throw new TypeError(`the test ${name} has no body`);
  const own = current();
  const path = [name];
  for (let outer: Suite | undefined = own; outer !== undefined; outer = outer.parent) path.unshift(outer.name);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- declared by whoever wrote the test
  collected.push({ id: `${collected.length} ${path.join(' > ')}`, suite: own, body: body as TestBody });
}

export function beforeEach(hook: Hook): void {
  current().beforeEach.push(hook);
}

export function afterEach(hook: Hook): void {
  current().afterEach.push(hook);
}

export { mock };

/** Runs one test with its hooks; rejects with its failure. */
export async function runCollected({ suite: own, body }: CollectedTest): Promise<void> {
  const suites: Suite[] = [];
  for (let outer: Suite | undefined = own; outer !== undefined; outer = outer.parent) suites.unshift(outer);
  const after: Hook[] = [];
  const ownMock = new MockTracker();
  const failures: unknown[] = [];
  const attempt = async (hook: Hook) => {
    try {
      await hook();
    } catch (error) {
      failures.push(error);
    }
  };
  for (const hook of suites.flatMap((each) => each.beforeEach)) await attempt(hook);
  if (failures.length === 0) await attempt(() => body({ after: (hook) => after.push(hook), mock: ownMock, diagnostic: () => undefined }));
  for (const hook of [...after, ...suites.toReversed().flatMap((each) => each.afterEach)]) await attempt(hook);
  for (const tracker of [ownMock, mock]) {
    tracker.timers.reset();
    tracker.reset();
  }
  if (failures.length > 0) throw failures[0];
}
