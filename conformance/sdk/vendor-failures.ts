import assert from 'node:assert/strict';

import { post } from '../support/http.ts';
import type { SimulatedWeir } from '../support/start-simulated-weir.ts';

/**
 * A model whose vendor has a short time-out. It is used only for silence: on a machine that stalls, correct vendors are
 * silent, too.
 */
export const hastyModel = 'soon-given-up';

/** `models` of weir.yaml, with the hasty one. */
export const impatientWith = (upstream: string, model: string) => ({
  models: { [hastyModel]: { targets: [{ upstream, model }], timeouts: { firstByteMs: 1500, idleMs: 1500 } } },
});

/** Faults of an unreachable or faulty vendor, of which no detail may be shown. */
export const awayFaults: readonly string[] = [
  'refuse',
  'reset-before-headers',
  'html;status=502',
  'html',
  'empty-body',
  'redirect',
  'gzip',
  'error-in-200',
];

/** Faults in which the vendor's error or reply contains the operator's key. */
export const credentialFaults: readonly string[] = [
  'status;status=401',
  'echo-credentials',
  'echo-credentials;status=400',
  'echo-credentials;status=500',
];

export const silentFaults: readonly string[] = ['stall-before-headers', 'stall-after-headers'];

/** The message of an error for an unreachable vendor: it has text, and no internal detail. */
export function assertOutsideWords(message: string, fault: string): void {
  assert.match(message, /model service|Upstream connection error/, fault);
  assert.doesNotMatch(message, /127\.0\.0\.1|ECONN|UND_ERR/, `${fault} shows no internal detail`);
}

/** No vendor got a call with this tag. */
export function assertNotCalled({ simulator }: SimulatedWeir, tag: string): void {
  assert.ok(
    simulator.records().every((record) => record.tag !== tag),
    'no vendor was called',
  );
}

/** The next call of the vendor fails in this way. */
export async function failNext({ simulator }: SimulatedWeir, vendor: string, fault: string): Promise<void> {
  const settings = await post(`${simulator.controlUrl}/settings`, { faults: [{ fault, vendor, times: 1 }] });
  assert.equal(settings.status, 200, settings.text);
}
