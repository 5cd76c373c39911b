import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type SimulatedWeir, upstreamKey } from '../support/start-simulated-weir.ts';
import { brokenReplies, steer } from './steer.ts';
import { assertNotCalled, assertOutsideWords, awayFaults, credentialFaults, hastyModel, silentFaults } from './vendor-failures.ts';

/** The members of these SDKs' errors besides the message. */
type Raised = Error & {
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  readonly error: unknown;
  readonly requestID: string | null | undefined;
};

/** The machine-readable name of an error, such as its `type`. */
type Members = Readonly<Record<string, string>>;

type ErrorClass = abstract new (...args: any[]) => Error;

/** The classes of the SDKs of Anthropic and OpenAI, which one generator writes. */
type ErrorClasses = Readonly<
  Record<
    | 'APIError'
    | 'APIConnectionError'
    | 'APIConnectionTimeoutError'
    | 'APIUserAbortError'
    | 'AuthenticationError'
    | 'InternalServerError'
    | 'RateLimitError',
    ErrorClass
  >
>;

export type CallOptions = { headers?: Record<string, string>; timeout?: number; signal?: AbortSignal };

/** One way to make a call with the SDK, with the suite's client or another, and of its model or another. */
export type SdkCall<Client> = {
  readonly name: string;
  readonly call: (options: CallOptions, from?: Client, model?: string) => Promise<unknown>;
  /** Its reply is read completely, so that a break in its middle is known before anything is returned. */
  readonly isWhole?: boolean;
};

export type ErrorClassSuite<Client> = {
  readonly classes: ErrorClasses;
  readonly running: () => SimulatedWeir;
  readonly connect: (options: object) => Client;
  readonly calls: readonly SdkCall<Client>[];
  /** The class that each status raises, and further members of its errors. */
  readonly statuses: readonly (readonly [status: number, errorClass: ErrorClass, more?: Members])[];
  /** Further members of the error of a wrong key. */
  readonly wrongKey: Members;
  /** A base address without a listener. */
  readonly goneUrl: string;
};

function assertMembers(error: Raised, members: Members = {}): void {
  for (const [name, value] of Object.entries(members)) assert.equal((error as unknown as Members)[name], value);
}

/** Checks that a call fails with this class, and returns its error. */
async function assertRaises(call: Promise<unknown>, errorClass: ErrorClass, about: string, look?: (error: Raised) => void): Promise<void> {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof errorClass, `${about} raises ${errorClass.name}, not ${String(error)}`);
    look?.(error as Raised);
    return true;
  });
}

function testStatuses<Client>({ classes, statuses }: ErrorClassSuite<Client>, { name, call }: SdkCall<Client>): void {
  test(`${name}: each status of the vendor raises its class, with the vendor’s message`, async () => {
    for (const [status, errorClass, more] of statuses) {
      const options = steer({ fault: `status;status=${status};message=Words of the vendor.` });
      await assertRaises(call(options), errorClass, String(status), (error) => {
        assert.equal(error.status, status);
        assertMembers(error, more);
        assert.match(error.message, /Words of the vendor\./);
        assert.match(error.requestID ?? '', /^req_/);
      });
    }
  });

  test(`${name}: a rate limit has the time to wait`, () =>
    assertRaises(call(steer({ fault: 'status;status=429;retry-after=7' })), classes.RateLimitError, '429', (error) =>
      assert.equal(error.headers?.get('retry-after'), '7'),
    ));
}

function testKeys<Client>(suite: ErrorClassSuite<Client>, { name, call }: SdkCall<Client>): void {
  const { classes, connect, running, wrongKey } = suite;
  test(`${name}: a wrong key is an AuthenticationError that does not repeat the key`, async () => {
    const stranger = connect({ apiKey: 'sk-weir-surely-not-a-key' });
    await assertRaises(call(steer({ tag: `${name} wrong key` }), stranger), classes.AuthenticationError, 'a wrong key', (error) => {
      assertMembers(error, wrongKey);
      assert.doesNotMatch(error.message, /surely-not-a-key/);
    });
    assertNotCalled(running(), `${name} wrong key`);
  });

  test(`${name}: a vendor that refuses the operator’s key is not the client’s fault, and the key stays secret`, async () => {
    for (const fault of credentialFaults) {
      await assertRaises(call(steer({ fault })), classes.APIError, fault, (error) => {
        assert.notEqual(error.status, 401);
        const shown = JSON.stringify([error.message, error.error, [...(error.headers ?? [])]]);
        assert.ok(!shown.includes(upstreamKey), `${fault} shows the key: ${shown}`);
      });
    }
  });
}

function testConnections<Client>({ classes, connect, goneUrl }: ErrorClassSuite<Client>, { name, call }: SdkCall<Client>): void {
  test(`${name}: an unreachable or faulty vendor is a server error with a message`, async () => {
    const raise = (fault: string): Promise<void> =>
      assertRaises(call(steer({ fault })), classes.InternalServerError, fault, ({ message }) => assertOutsideWords(message, fault));
    await Promise.all(awayFaults.map(raise));
  });

  test(`${name}: the client’s own time limit, its abort and an unreachable gateway raise errors`, async () => {
    const stalled = steer({ fault: 'stall-before-headers' });
    await Promise.all([
      assert.rejects(call({ ...stalled, timeout: 40 }), classes.APIConnectionTimeoutError),
      assert.rejects(call({ ...stalled, signal: AbortSignal.timeout(40) }), classes.APIUserAbortError),
      assert.rejects(call({}, connect({ baseURL: goneUrl })), classes.APIConnectionError),
    ]);
  });
}

/** Every error class of an SDK, raised by its cause, in each way to make a call. */
export function testErrorClasses<Client>(suite: ErrorClassSuite<Client>): void {
  const { calls, classes } = suite;
  for (const way of calls) {
    testStatuses(suite, way);
    testKeys(suite, way);
    testConnections(suite, way);
  }

  test('a whole reply that breaks is a server error', async () => {
    const whole = calls.filter(({ isWhole }) => isWhole === true);
    const raise = ({ call }: SdkCall<Client>, fault: string): Promise<void> =>
      assertRaises(call(steer({ fault }), undefined, hastyModel), classes.InternalServerError, fault);
    await Promise.all(whole.flatMap((way) => brokenReplies.map((fault) => raise(way, fault))));
  });

  test('a silent vendor is a time-out with a message, whenever it falls silent', async () => {
    const raise = ({ call }: SdkCall<Client>, fault: string): Promise<void> =>
      assertRaises(call(steer({ fault }), undefined, hastyModel), classes.InternalServerError, fault, (error) => {
        assert.equal(error.status, 504);
        assert.match(error.message, /Upstream connection error: .*timeout/);
      });
    await Promise.all(calls.flatMap((way) => silentFaults.map((fault) => raise(way, fault))));
  });
}
