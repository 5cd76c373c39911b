import type { CredentialState } from '../../control/nodes/node-state.ts';
import type { RoutingTable } from '../../gateway/attempts/routing/routing-table.ts';
import type { SourceState } from '../../upstreams/credentials/credential-source.ts';
import type { SecretBook } from '../../upstreams/credentials/secrets/secret-book.ts';

/** A credential or a secret with its kind and its name. */
export type NamedCredential = SourceState & Pick<CredentialState, 'kind' | 'name' | 'changedAtMs'>;

/** The secrets of the configuration, the logins to their stores, and the short-lived credentials of upstreams. */
export function listCredentials(
  { upstreams }: Pick<RoutingTable, 'upstreams'>,
  secrets: Pick<SecretBook, 'describe'> | undefined,
): readonly NamedCredential[] {
  const book = secrets?.describe();
  const named = new Map(upstreams.map((upstream) => [upstream.id, upstream]));
  return [
    ...(book?.secrets ?? []).map((state) => ({ ...state, kind: 'secret' as const, name: state.reference, origin: state.store })),
    ...(book?.logins ?? []).map((state) => ({ ...state, kind: 'login' as const, name: state.store })),
    ...[...named.values()].flatMap(({ id, credential }) =>
      credential === undefined ? [] : [{ ...credential.describe(), kind: 'credential' as const, name: id }],
    ),
  ];
}

/** The same as a gateway reports it. */
export function reportCredential({
  kind,
  name,
  origin,
  identity,
  fetchedAtMs,
  changedAtMs,
  expiresAtMs,
  failure,
}: NamedCredential): CredentialState {
  return {
    kind,
    name,
    ...(origin !== undefined && { origin }),
    ...(identity !== undefined && { identity }),
    ...(fetchedAtMs !== undefined && { readAtMs: fetchedAtMs }),
    ...(changedAtMs !== undefined && { changedAtMs }),
    ...(expiresAtMs !== undefined && { expiresAtMs }),
    ...(failure !== undefined && { failure: { sinceMs: failure.sinceMs, reason: failure.reason } }),
  };
}
