import { isNameTemplate } from '../../accounts/jwt/claim-names.ts';
import { isSafeAddress } from '../../accounts/jwt/issuer-keys.ts';
import type { TokenIssuer } from '../../accounts/jwt/token-issuer.ts';
import type { Config } from './config-schema.ts';

type Issuers = NonNullable<NonNullable<Config['callers']>['issuers']>;

const defaultKeysMax = 10_000;

/** The issuers of a checked configuration. */
export function buildTokenIssuers(config: Config): readonly TokenIssuer[] {
  return (config.callers?.issuers ?? []).map(({ audience, algorithms, claims, models, ...configured }) => ({
    name: configured.name,
    issuer: configured.issuer,
    audiences: typeof audience === 'string' ? [audience] : audience,
    jwksUrl: configured.jwksUrl,
    algorithms: algorithms ?? ['RS256', 'ES256'],
    user: configured.user ?? '{sub}',
    key: configured.key ?? configured.name,
    ...(configured.team === undefined ? {} : { team: configured.team }),
    claims: claims ?? {},
    limits: { ...configured.limits, ...(models === undefined ? {} : { models }) },
    keysMax: configured.keysMax ?? defaultKeysMax,
  }));
}

/** Checks issuers beyond the schema: names and addresses are unique, addresses are safe, templates have one claim. */
export function findIssuerProblems(
  issuers: Issuers = [],
): readonly { readonly path: readonly (string | number)[]; readonly message: string }[] {
  return issuers.flatMap(({ name, issuer, jwksUrl, user, key, team, models }, index) => {
    const at = (field: string, message: string) => ({ path: ['callers', 'issuers', index, field], message });
    const earlier = issuers.slice(0, index);
    const template = 'must be text with at most one claim in braces, such as "ci-{repository}"';
    return [
      ...(earlier.some((other) => other.name === name) ? [at('name', `"${name}" is used twice`)] : []),
      ...(earlier.some((other) => other.issuer === issuer) ? [at('issuer', `"${issuer}" is used twice`)] : []),
      ...(jwksUrl === undefined && !isSafeAddress(issuer)
        ? [at('issuer', 'must be an https address, or jwksUrl must name the address of its keys')]
        : []),
      ...(jwksUrl !== undefined && !isSafeAddress(jwksUrl)
        ? [at('jwksUrl', 'must be an https address, or an http address of this machine')]
        : []),
      ...(user !== undefined && !isNameTemplate(user) ? [at('user', template)] : []),
      ...(key !== undefined && !isNameTemplate(key) ? [at('key', template)] : []),
      ...(team !== undefined && !isNameTemplate(team) ? [at('team', template)] : []),
      ...(models?.some((model) => model.slice(0, -1).includes('*')) === true ? [at('models', 'may have * at the end of a name only')] : []),
    ];
  });
}
