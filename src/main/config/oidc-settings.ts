import { isSafeAddress } from '../../accounts/jwt/issuer-keys.ts';
import type { OidcSettings } from '../../accounts/people/oidc/oidc-settings.ts';
import type { Config } from './config-schema.ts';

/** The provider of a checked configuration; undefined without one. */
export function buildOidcSettings({ console: { oidc } = {} }: Pick<Config, 'console'>): OidcSettings | undefined {
  return oidc === undefined ? undefined : { ...oidc, scopes: oidc.scopes ?? ['profile', 'email'] };
}

/** Checks the provider beyond the schema: secrets and tokens must not pass in clear. */
export function findOidcProblems({
  console: { oidc } = {},
}: Pick<Config, 'console'>): readonly { readonly path: readonly string[]; readonly message: string }[] {
  if (oidc === undefined || isSafeAddress(oidc.issuer)) return [];
  return [{ path: ['console', 'oidc', 'issuer'], message: 'must be an https address, or an http address of this machine' }];
}
