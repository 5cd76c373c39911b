import Type from 'typebox';

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
    financePublishes: Type.Optional(Type.Boolean({ default: false, description: 'Whether the role finance may publish prices.' })),
  },
  { additionalProperties: false, description: 'The admin API and the people who use it. Read when it starts.' },
);
