import Type from 'typebox';

import { roles } from '../../accounts/people/permissions.ts';

const claim = (description: string) => Type.String({ minLength: 1, maxLength: 256, description });
const claimedNames = (what: string, rule: string) =>
  Type.Object(
    {
      claim: claim(`The claim that names ${what}.`),
      map: Type.Optional(
        Type.Record(Type.String({ minLength: 1 }), Type.String({ minLength: 1 }), {
          description: 'The name here for each value of the claim. Without a map the values are the names.',
        }),
      ),
    },
    { additionalProperties: false, description: rule },
  );

const oidcSchema = Type.Object(
  {
    issuer: Type.String({
      minLength: 1,
      maxLength: 1024,
      description: 'The provider, exactly as its tokens have it in `iss`. https, or http on this machine.',
    }),
    clientId: Type.String({ minLength: 1, maxLength: 1024, description: 'The name under which the provider knows this console.' }),
    clientSecret: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4096, description: 'The secret of the client. Absent for a public client.' }),
    ),
    scopes: Type.Optional(
      Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' }), {
        maxItems: 20,
        default: ['profile', 'email'],
        description: 'Scopes to request beside `openid`.',
      }),
    ),
    roles: Type.Object(
      {
        claim: claim('The claim that decides about roles, such as `groups` or `realm_access.roles`.'),
        map: Type.Record(Type.String({ minLength: 1 }), Type.Enum([...roles]), {
          description: 'The role for each value of the claim. The strongest one counts: operator, finance, owner, viewer.',
        }),
      },
      { additionalProperties: false, description: 'Roles of people. Without a role here nobody gets in.' },
    ),
    users: Type.Optional(claimedNames('users', 'The users that a person owns. Without `users` and `teams` they are set by hand.')),
    teams: Type.Optional(claimedNames('teams', 'Teams: a person owns the users that are in them when it signs in.')),
  },
  { additionalProperties: false, description: 'Sign-in at a provider of OpenID Connect.' },
);

/** The `console` section: the admin API and the people who use it. */
export const consoleSchema = Type.Object(
  {
    publicUrl: Type.Optional(
      Type.String({
        pattern: '^https?://[^/?#\\s]+$',
        description:
          'The address under which people reach the console: that of the proxy with TLS in front of it. Requests for any other host are refused.',
      }),
    ),
    gatewayUrl: Type.Optional(
      Type.String({
        pattern: '^https?://[^/?#\\s]+$',
        description:
          'The address of a gateway, to which the console passes the calls of the playground. Absent: that of `weir start`, if the gateway is its own.',
      }),
    ),
    requestsPerMinute: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, default: 600, description: 'Requests that each session or admin token may make.' }),
    ),
    ownersMakeKeys: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether people with the role owner create, rotate and disable keys of their users.' }),
    ),
    readContent: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether operators may read what users have stored. Each reading is a row of the audit log.',
      }),
    ),
    oidc: Type.Optional(oidcSchema),
    passwords: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether people may sign in with a password. `false` leaves OIDC and links.' }),
    ),
    editConfig: Type.Optional(
      Type.Boolean({
        description:
          'Whether upstreams, models and limits.perKey may be published through the console as a layer below this file. A gateway takes such layers only if its own file allows them. Default: true with `weir start`, false for the other programs.',
      }),
    ),
    signIn: Type.Optional(
      Type.Array(Type.Enum(['apiKey', 'billingToken']), {
        uniqueItems: true,
        default: [],
        description:
          'Further ways to sign in. `apiKey`: an API key opens a session with the rights of an owner of its user. `billingToken`: a billing token opens one that reads what the token sees.',
      }),
    ),
    financePublishes: Type.Optional(Type.Boolean({ default: false, description: 'Whether the role finance may publish prices.' })),
  },
  { additionalProperties: false, description: 'The admin API and the people who use it. Read when it starts.' },
);
