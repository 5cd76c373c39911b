import type { AccessLimits } from '../../../accounts/access-limits.ts';
import type { ApiKey } from '../../../accounts/api-key.ts';
import type { CallEntry } from '../../../billing/ledger/call-entry.ts';
import type { GatewayError } from '../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';
import { awaitReply, type WholeAnswer } from '../../replies/event-reply.ts';
import { createSilentReport } from '../../telemetry/call-report.ts';
import type { AdmittedCall, PlainCall, PlainServices } from './plain-call.ts';

/** In whose books a call of the gateway's own is. */
type OwnCaller = {
  readonly userName: string;
  /** Absent: no key caused it. */
  readonly keyId?: string;
  /** The name under which the books show what made it. */
  readonly keyName: string;
  /** The key whose spend limits apply too. Absent: only those of the user do. */
  readonly caller?: ApiKey | undefined;
  /** Set if it is a part of another call. */
  readonly part?: { readonly rowId: string; readonly parentCallId: string } | undefined;
};

/** All limits that a user may have. The credit desk ignores those that the user lacks, and reads the amounts itself. */
const userLimits = { prepaid: true, spendPerDay: '0', spendPerMonth: '0', spendTotal: '0' } as const;

/** A call without a client occupies no place in the process. */
const admission = { releaseBytes: () => {} };

/** A request of the gateway's own in JSON. */
export type OwnRequest = OwnCaller & { readonly body: JsonObject };

/**
 * Makes a call of the gateway's own and resolves with the JSON of its reply. Rejects if the call fails.
 * @param start makes the call, which writes its reply
 */
export async function makeOwnCall(
  gateway: PlainServices,
  { body, ...owner }: OwnRequest,
  signal: AbortSignal,
  start: (call: PlainCall) => Promise<void>,
): Promise<JsonObject> {
  const { answer } = await runOwnCall(gateway, owner, signal, (call) => start({ ...call, body }));
  return parseJsonObject(answer.body) ?? {};
}

/**
 * Runs a call of the gateway's own. Spend limits apply; rate limits do not, because the call that it is for was
 * counted. Rejects if the call fails.
 * @param start makes the call, which writes its reply
 */
export async function runOwnCall(
  gateway: PlainServices,
  { userName, keyId = '', keyName, caller, part }: OwnCaller,
  signal: AbortSignal,
  start: (call: AdmittedCall) => Promise<void>,
): Promise<{ readonly answer: WholeAnswer; readonly entry: CallEntry | undefined }> {
  const { clock, newId } = gateway;
  const payer: ApiKey =
    caller === undefined
      ? { id: keyId, userId: userName, userName, name: keyName, hint: '', createdAtMs: 0, strictTranslation: false, userLimits }
      : { ...caller, limits: onlySpending(caller.limits), userLimits: onlySpending(caller.userLimits) };
  const { perKey: _perKey, ...settings } = gateway.settings();
  const times = { acceptedAtMs: clock.nowMs(), startedMs: clock.monotonicMs() };
  const call = { callId: part?.rowId ?? newId('req'), caller: payer, settings, headers: {}, ...times, admission };
  let ended: { readonly entry: CallEntry; readonly error: GatewayError | undefined } | undefined;
  const report = createSilentReport((entry, error) => (ended = { entry, error }));
  const parent = part === undefined ? {} : { parentCallId: part.parentCallId };
  const answer = await awaitReply(signal, (response) => start({ ...call, ...parent, response, disconnect: undefined, report }));
  if (ended?.error !== undefined) throw ended.error;
  return { answer, entry: ended?.entry };
}

function onlySpending({ spendPerDay, spendPerMonth, spendTotal, prepaid }: AccessLimits = {}): AccessLimits {
  return {
    ...(spendPerDay !== undefined && { spendPerDay }),
    ...(spendPerMonth !== undefined && { spendPerMonth }),
    ...(spendTotal !== undefined && { spendTotal }),
    ...(prepaid !== undefined && { prepaid }),
  };
}
