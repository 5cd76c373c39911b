import Type, { type Static } from 'typebox';

const sinkSchema = Type.Object(
  {
    type: Type.Enum(['otlp', 'syslog'], {
      description:
        'otlp: log records of OpenTelemetry, as JSON over HTTP; syslog: messages as RFC 5424 defines them, with the row as JSON.',
    }),
    url: Type.Optional(
      Type.String({
        pattern: '^https?://',
        maxLength: 2048,
        description: 'Of otlp: the address for logs, such as http://localhost:4318/v1/logs.',
      }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$" }), Type.String({ pattern: '^[\\x20-\\x7e\\t]{0,4096}$' }), {
        additionalProperties: false,
        description: 'Of otlp: headers of each request. Write credentials as references: "${NAME}".',
      }),
    ),
    host: Type.Optional(Type.String({ minLength: 1, maxLength: 253, description: 'Of syslog: name or address of the server.' })),
    port: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 65_535, description: 'Of syslog: its port. Default: 514 for udp, 601 for tcp, 6514 for tls.' }),
    ),
    protocol: Type.Optional(
      Type.Enum(['udp', 'tcp', 'tls'], {
        default: 'tcp',
        description: 'Of syslog: how messages are sent. With udp, rows may be lost without notice.',
      }),
    ),
  },
  { additionalProperties: false, description: 'A receiver of the audit log.' },
);

export const auditSchema = Type.Object(
  {
    sinks: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }), sinkSchema, {
        additionalProperties: false,
        description:
          'Receivers of the audit log by name. Each gets all rows in order and at least once; under a new name it gets the log from its beginning.',
      }),
    ),
  },
  { additionalProperties: false, description: 'The audit log.' },
);

export type AuditSinkConfig = Static<typeof sinkSchema>;

type Problem = { readonly path: readonly (string | number)[]; readonly message: string };
const fieldsOf = { otlp: ['url', 'headers'], syslog: ['host', 'port', 'protocol'] } as const;

/** Problems of sinks beyond the schema, each at its field. */
export function findAuditProblems({ audit }: { readonly audit?: Static<typeof auditSchema> }): readonly Problem[] {
  return Object.entries(audit?.sinks ?? {}).flatMap(([name, sink]) => {
    const path = ['audit', 'sinks', name];
    const { type, url } = sink;
    const needed = type === 'otlp' ? 'url' : 'host';
    const foreign: readonly (keyof AuditSinkConfig)[] = fieldsOf[type === 'otlp' ? 'syslog' : 'otlp'];
    return [
      ...(sink[needed] === undefined ? [{ path, message: `${needed} is required for a sink of type ${type}` }] : []),
      ...foreign
        .filter((field) => sink[field] !== undefined)
        .map((field) => ({ path: [...path, field], message: `does not belong to a sink of type ${type}` })),
      ...(url === undefined || URL.canParse(url) ? [] : [{ path: [...path, 'url'], message: 'must be a valid address' }]),
    ];
  });
}
