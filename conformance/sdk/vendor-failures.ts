import assert from 'node:assert/strict';

import { post } from '../support/http.ts';
import type { SimulatedWeir } from '../support/start-simulated-weir.ts';

/** A model whose vendor is given up soon when it says nothing. It is asked for silence alone: on a machine that stands still for a while, vendors that are well are silent, too. */
export const hastyModel = 'soon-given-up';

/** `models` of weir.yaml, with the hasty one. */
export const impatientWith = (upstream: string, model: string) => ({
  models: { [hastyModel]: { targets: [{ upstream, model }], timeouts: { firstByteMs: 1500, idleMs: 1500 } } },
});

/** Faults of a vendor that is away or lies, of which nothing may be shown but that it is so. */
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

/** Faults in which the vendor says, or its reply holds, what the operator's key is. */
export const credentialFaults: readonly string[] = [
  'status;status=401',
  'echo-credentials',
  'echo-credentials;status=400',
  'echo-credentials;status=500',
];

export const silentFaults: readonly string[] = ['stall-before-headers', 'stall-after-headers'];

/** The message of an error that stands for a vendor that is away: it has words, and nothing of the inside. */
export function assertOutsideWords(message: string, fault: string): void {
  assert.match(message, /model service|Upstream connection error/, fault);
  assert.doesNotMatch(message, /127\.0\.0\.1|ECONN|UND_ERR/, `${fault} shows nothing of the inside`);
}

/** No vendor got a call with this tag. */
export function assertNotAsked({ simulator }: SimulatedWeir, tag: string): void {
  assert.ok(
    simulator.records().every((record) => record.tag !== tag),
    'no vendor was asked',
  );
}

/** The next call of the vendor fails so. */
export async function failNext({ simulator }: SimulatedWeir, vendor: string, fault: string): Promise<void> {
  const settings = await post(`${simulator.controlUrl}/settings`, { faults: [{ fault, vendor, times: 1 }] });
  assert.equal(settings.status, 200, settings.text);
}
