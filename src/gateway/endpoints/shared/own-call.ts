import type { ApiKey } from '../../../accounts/api-key.ts';
import type { GatewayError } from '../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';
import { awaitReply } from '../../replies/event-reply.ts';
import { createUnheardReport } from '../../telemetry/call-report.ts';
import type { PlainCall, PlainServices } from './plain-call.ts';

/** A request that the gateway itself makes, and the user in whose books it is a call. */
export type OwnRequest = {
  readonly body: JsonObject;
  readonly userName: string;
  /** Absent: no key caused it. */
  readonly keyId?: string;
  /** The name under which the books show what made it. */
  readonly keyName: string;
  /** Set if it is a part of another call. */
  readonly part?: { readonly rowId: string; readonly parentCallId: string } | undefined;
};

/** All limits that a user may have. The credit desk ignores those that the user lacks, and reads the amounts itself. */
const userLimits = { prepaid: true, spendPerDay: '0', spendPerMonth: '0', spendTotal: '0' } as const;

/** A call without a client occupies no place in the process. */
const admission = { releaseBytes: () => {} };

/**
 * Makes a call of the gateway's own and resolves with the JSON of its reply. The limits of the user apply, those of a
 * key do not. Rejects if the call fails.
 * @param start makes the call, which writes its reply
 */
export async function makeOwnCall(
  gateway: PlainServices,
  { body, userName, keyId = '', keyName, part }: OwnRequest,
  signal: AbortSignal,
  start: (call: PlainCall) => Promise<void>,
): Promise<JsonObject> {
  const { clock, newId } = gateway;
  const caller: ApiKey = {
    id: keyId,
    userId: userName,
    userName,
    name: keyName,
    hint: '',
    createdAtMs: 0,
    strictTranslation: false,
    userLimits,
  };
  const times = { acceptedAtMs: clock.nowMs(), startedMs: clock.monotonicMs() };
  const call = { callId: part?.rowId ?? newId('req'), caller, settings: gateway.settings(), body, headers: {}, ...times, admission };
  let failure: GatewayError | undefined;
  const report = createUnheardReport((_entry, error) => (failure = error));
  const parent = part === undefined ? {} : { parentCallId: part.parentCallId };
  const reply = await awaitReply(signal, (response) => start({ ...call, ...parent, response, disconnect: undefined, report }));
  if (failure !== undefined) throw failure;
  return parseJsonObject(reply.body) ?? {};
}
