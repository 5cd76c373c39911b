import type { Gateway } from '../../../gateway/endpoints/gateway.ts';
import { addGatewayGauges } from '../../../gateway/server/gateway-gauges.ts';
import type { MetricRegistry } from '../../../platform/metrics/metric-registry.ts';
import type { SecretBook } from '../../../upstreams/credentials/secrets/secret-book.ts';
import { listCredentials, type NamedCredential } from '../list-credentials.ts';

/** Adds the gauges of a gateway and of its credentials. */
export function addAllGauges(
  registry: MetricRegistry,
  gateway: Parameters<typeof addGatewayGauges>[1] & Pick<Gateway, 'settings' | 'clock'>,
  secrets: Pick<SecretBook, 'describe'> | undefined,
): void {
  addGatewayGauges(registry, gateway);
  addCredentialMetrics(registry, () => listCredentials(gateway.settings().routing, secrets), gateway.clock.nowMs);
}

/** Adds gauges of the age, the end and the failures of credentials. They are read when metrics are requested. */
export function addCredentialMetrics(registry: MetricRegistry, list: () => readonly NamedCredential[], nowMs: () => number): void {
  const labels = ['kind', 'name'];
  const gauge = (name: string, help: string, valueOf: (state: NamedCredential) => number | undefined): void =>
    registry.collected({
      name,
      help,
      labels,
      type: 'gauge',
      merge: 'max',
      read: () =>
        list().flatMap((state) => {
          const value = valueOf(state);
          return value === undefined ? [] : [{ labels: [state.kind, state.name], value }];
        }),
    });
  gauge('weir_credential_age_seconds', 'Time since a secret, a login or a credential of a cloud was read last.', ({ fetchedAtMs }) =>
    fetchedAtMs === undefined ? undefined : (nowMs() - fetchedAtMs) / 1000,
  );
  gauge(
    'weir_credential_expires_in_seconds',
    'Time until a login or a credential of a cloud ends. It is renewed when it is needed, so that it may be over.',
    ({ expiresAtMs }) => (expiresAtMs === undefined ? undefined : (expiresAtMs - nowMs()) / 1000),
  );
  gauge(
    'weir_credential_failures',
    'Failures to read a secret, a login or a credential of a cloud since the last success.',
    ({ failure }) => failure?.inARow ?? 0,
  );
}
