import type { Clock } from '../../platform/clock.ts';
import type { Principal } from '../../accounts/people/principal.ts';
import { isStream, type Operation, type RawInput } from '../operation.ts';
import { AdminProblem } from '../problem.ts';
import { runOperation } from '../run-operation.ts';
import type { AdminService, ServiceInput } from './admin-service.ts';

/** What the commands of this machine run as. */
type LocalServiceParts<Services> = {
  readonly services: Services;
  readonly principal: Principal;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
};

/** Runs operations in this process, on the store of the data directory. */
export function createLocalService<Own>({
  services,
  principal,
  clock,
  signal = new AbortController().signal,
}: LocalServiceParts<Own>): AdminService {
  async function run(operation: Operation<never>, input: ServiceInput<unknown, unknown, unknown>) {
    const context = {
      principal,
      // The services of a program are the sum of what all operations need.
      services: services as never,
      signal,
      expected: undefined,
      nowMs: clock.nowMs,
      change: () => ({ ...principal.author, atMs: clock.nowMs() }),
    };
    return await runOperation(operation, rawInput(input), context);
  }
  return {
    call: async (operation, input = {}) => {
      const answer = await run(operation, input);
      if (isStream(answer)) throw new Error(`The operation ${operation.id} streams its answer.`);
      // runOperation has removed what the schema does not declare.
      return { body: answer.body as never, ...(answer.version !== undefined && { version: answer.version }) };
    },
    stream: async function* stream(operation, input = {}) {
      const answer = await run(operation, input);
      if (!isStream(answer)) throw new AdminProblem('internal_error', `The operation ${operation.id} does not stream.`);
      yield* answer.stream;
    },
  };
}

/** The input as texts, as it would arrive over HTTP. */
export function rawInput({ params, query, body }: ServiceInput<unknown, unknown, unknown>): RawInput {
  const texts = (value: unknown): [string, unknown][] => Object.entries(value ?? {}).filter(([, member]) => member !== undefined);
  return {
    params: Object.fromEntries(texts(params).map(([name, value]) => [name, String(value)])),
    query: Object.fromEntries(texts(query).map(([name, value]) => [name, (Array.isArray(value) ? value : [value]).map(String)])),
    body,
  };
}
