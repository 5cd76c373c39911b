import Type from 'typebox';

import { alertRuleCodes, severities } from '../../alerts/alert.ts';
import { defaultThresholds } from '../../alerts/conditions/condition.ts';

/** Defaults of settings that are not thresholds. */
export const defaultAlerts = { checkSeconds: 15, diskFreePercent: 5, smtpPort: 587 } as const;

const days = (meaning: string, fallback: readonly number[]) =>
  Type.Optional(
    Type.Array(Type.Number({ minimum: 0.1, maximum: 3650 }), { minItems: 1, maxItems: 10, default: fallback, description: meaning }),
  );

const rulesSchema = Type.Object(
  {
    budget: Type.Optional(
      Type.Object(
        {
          percents: Type.Optional(
            Type.Array(Type.Integer({ minimum: 1, maximum: 1000 }), {
              minItems: 1,
              maxItems: 10,
              default: defaultThresholds.budgetPercents,
              description: 'Percent of a spend limit at which a message is sent, once for each in a period.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    balance: Type.Optional(
      Type.Object(
        { days: days('Days of usual spending that a balance has left when a message is sent.', defaultThresholds.balanceDays) },
        { additionalProperties: false },
      ),
    ),
    spendRate: Type.Optional(
      Type.Object(
        {
          times: Type.Optional(
            Type.Number({
              minimum: 1,
              maximum: 1000,
              default: defaultThresholds.spendRate.times,
              description: 'The spend of a user in an hour is unusual above this multiple of its busiest hour in the seven days before.',
            }),
          ),
          leastUsd: Type.Optional(
            Type.String({
              pattern: '^[0-9]{1,9}(\\.[0-9]{1,9})?$',
              default: '10',
              description: 'Spend in an hour that is never unusual below this amount, in USD as a decimal string.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    keyExpiring: Type.Optional(
      Type.Object(
        { days: days('Days before the expiry of a key or token when a message is sent.', defaultThresholds.expiryDays) },
        { additionalProperties: false },
      ),
    ),
    disk: Type.Optional(
      Type.Object(
        {
          freePercent: Type.Optional(
            Type.Number({
              minimum: 0,
              maximum: 99,
              default: defaultAlerts.diskFreePercent,
              description: 'Free space of the disk of the data directory, in percent, below which it counts as almost full.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false, description: 'Thresholds of the rules.' },
);

const smtpSchema = Type.Object(
  {
    host: Type.String({ minLength: 1, maxLength: 253, description: 'Name or address of the mail server.' }),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, default: defaultAlerts.smtpPort, description: 'Its port.' })),
    security: Type.Optional(
      Type.Enum(['tls', 'starttls', 'none'], {
        default: 'starttls',
        description:
          'How the connection is protected. tls: from the first byte, usually on port 465; starttls: encrypted before the credential is sent; none: only for a server in the same network.',
      }),
    ),
    user: Type.Optional(Type.String({ minLength: 1, description: 'User name. Without it, no credential is sent.' })),
    password: Type.Optional(Type.String({ minLength: 1, description: 'Password, preferably as a reference: "${NAME}".' })),
  },
  { additionalProperties: false, description: 'Mail server of an email channel.' },
);

const channelSchema = Type.Object(
  {
    type: Type.Enum(['callback', 'slack', 'teams', 'email'], {
      description:
        'The form of the messages. callback: an event signed as Standard Webhooks defines; slack: an incoming webhook of Slack, Mattermost or Rocket.Chat; teams: an adaptive card for a webhook of Teams Workflows; email: mail through an SMTP server.',
    }),
    url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description: 'Address of the receiver, preferably as a reference, because it is often a secret.',
      }),
    ),
    secret: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Secret that signs callbacks: whsec_ and 24 to 64 bytes in base64. `weir alerts secret` makes one.',
      }),
    ),
    privateAddresses: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether the receiver may be in a private network and speak plain http.' }),
    ),
    smtp: Type.Optional(smtpSchema),
    from: Type.Optional(Type.String({ minLength: 3, maxLength: 320, description: 'Sender of mails.' })),
    to: Type.Optional(
      Type.Array(Type.String({ minLength: 3, maxLength: 320 }), { minItems: 1, maxItems: 50, description: 'Recipients of mails.' }),
    ),
    rules: Type.Optional(
      Type.Array(Type.Enum([...alertRuleCodes]), { minItems: 1, description: 'Rules whose messages this channel gets. Default: all.' }),
    ),
    severity: Type.Optional(
      Type.Enum([...severities], { default: 'info', description: 'Least severity of the messages that this channel gets.' }),
    ),
  },
  { additionalProperties: false, description: 'A receiver of messages.' },
);

export const alertsSchema = Type.Object(
  {
    checkSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3600,
        default: defaultAlerts.checkSeconds,
        description: 'Time between two searches for problems, in seconds.',
      }),
    ),
    off: Type.Optional(Type.Array(Type.Enum([...alertRuleCodes]), { description: 'Rules that are turned off.' })),
    rules: Type.Optional(rulesSchema),
    channels: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }), channelSchema, {
        additionalProperties: false,
        description: 'Receivers of messages by name. Without any, problems are only listed by `weir alerts list`.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'Messages about problems: limits, upstreams, credentials, prices, the journal and the books.',
  },
);
