import Type from 'typebox';

import { tokenAlgorithms } from '../../accounts/jwt/token-issuer.ts';
import { listEntriesMax, modelCharactersMax } from '../../accounts/access-limits.ts';
import { rateLimitFields } from './rate-limit-fields.ts';

const text = (description: string, maxLength = 256) => Type.String({ minLength: 1, maxLength, description });

const issuerSchema = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z0-9][a-z0-9-]{0,31}$',
      description: 'Name in lists, logs and the audit log. Keys belong to it: another name makes new keys.',
    }),
    issuer: text('Its `iss`, exactly as its tokens have it.', 1024),
    audience: Type.Union(
      [text('One of these must be in `aud`.'), Type.Array(text('One of the audiences.'), { minItems: 1, maxItems: 20 })],
      {
        description: 'The audiences of tokens for this gateway. A token for anybody else is refused.',
      },
    ),
    jwksUrl: Type.Optional(
      text(
        'Address of its public keys. Default: the one in `<issuer>/.well-known/openid-configuration`. https, or http on this machine.',
        1024,
      ),
    ),
    algorithms: Type.Optional(
      Type.Array(Type.Enum([...tokenAlgorithms]), {
        minItems: 1,
        default: ['RS256', 'ES256'],
        description: 'Allowed signatures. Algorithms with a shared secret do not exist here.',
      }),
    ),
    user: Type.Optional(
      text(
        'Name of the user: text with at most one claim, such as `ci-{repository_owner}` or `{kubernetes.io/namespace}`. Default: `{sub}`.',
      ),
    ),
    key: Type.Optional(text('Name of the key, in the same form. Default: the name of the issuer.')),
    team: Type.Optional(text('Name of the team that a user joins if it has none, in the same form. A missing team is created.')),
    claims: Type.Optional(
      Type.Record(
        Type.String({ minLength: 1 }),
        Type.Array(text('An allowed value; `*` at its end stands for any text.'), { minItems: 1 }),
        {
          description: 'Claims that a token must have, and their allowed values.',
        },
      ),
    ),
    limits: Type.Optional(
      Type.Object(rateLimitFields, {
        additionalProperties: false,
        description: 'Limits of each of its keys. A limit that `weir keys update` gives a key takes its place.',
      }),
    ),
    models: Type.Optional(
      Type.Array(text('A model; `*` at its end stands for any text.', modelCharactersMax), {
        minItems: 1,
        maxItems: listEntriesMax,
        description: 'Models that its keys may call. Default: all.',
      }),
    ),
    keysMax: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, default: 10_000, description: 'Most keys that its tokens create.' }),
    ),
  },
  { additionalProperties: false },
);

export const callersSchema = Type.Object(
  {
    issuers: Type.Optional(
      Type.Array(issuerSchema, { maxItems: 50, description: 'Issuers whose signed tokens (JWT) are credentials beside API keys.' }),
    ),
  },
  { additionalProperties: false, description: 'Credentials of callers beside API keys.' },
);
