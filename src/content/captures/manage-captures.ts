import type { UserScope } from '../../accounts/people/principal.ts';
import type { AuditStore } from '../../audit/audit-entry.ts';
import type { Change } from '../../audit/change-author.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import type { Sealer } from '../../platform/seal/sealer.ts';
import { type Capture, captureLimits, type CaptureStore } from './capture.ts';
import { type Wires, wireNames } from './wires.ts';

/** Seals wires under the id of their call. */
export function sealName(callId: string): Uint8Array {
  return Buffer.from(`wires ${callId}`);
}

/** Begins a capture of the next calls of a key. Undefined if the key is not there, or has an open capture. */
export async function orderCapture(
  store: Pick<CaptureStore, 'insertCapture'>,
  order: {
    readonly id: string;
    readonly key: { readonly id: string; readonly name: string; readonly userName: string };
    readonly calls: number;
    readonly durationMs: number;
  },
  change: Change,
): Promise<Capture | undefined> {
  const { key } = order;
  const capture: Capture = {
    id: order.id,
    keyId: key.id,
    keyName: key.name,
    userName: key.userName,
    calls: Math.min(order.calls, captureLimits.calls),
    taken: 0,
    createdAtMs: change.atMs,
    untilMs: change.atMs + Math.min(order.durationMs, captureLimits.durationMs),
    createdBy: change.actor,
  };
  return (await store.insertCapture(capture, change)) ? capture : undefined;
}

/**
 * Reads the wires of a call. Each reading is a row of the audit log, which is written first.
 * @returns undefined if there are none, or they were sealed with another key
 */
export async function readWires(
  { store, sealer }: { readonly store: Pick<CaptureStore, 'findWires'> & Pick<AuditStore, 'recordAction'>; readonly sealer: Sealer },
  { callId, users }: { readonly callId: string; readonly users: UserScope },
  change: Change,
): Promise<Wires | undefined> {
  const found = await store.findWires({ callId, users, nowMs: change.atMs });
  if (found === undefined) return undefined;
  await store.recordAction({ action: 'content.read', subject: `call:${callId}` }, change);
  const opened = sealer.open(sealName(callId), found.sealed);
  const wires = opened === undefined ? undefined : parseJson(opened);
  if (!isJsonObject(wires)) return undefined;
  // It was written by this program and sealed.
  return Object.fromEntries(wireNames.flatMap((name) => (wires[name] === undefined ? [] : [[name, wires[name]] as const])));
}
