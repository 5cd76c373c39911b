import Type, { type Static } from 'typebox';

const milliseconds = (meaning: string, fallback: number) =>
  Type.Optional(Type.Integer({ minimum: 10, maximum: 600_000, default: fallback, description: `${meaning}, in milliseconds.` }));

/** Used for fields that the file omits. */
export const defaultDatabase = { poolSize: 10, connectMs: 5000, statementMs: 15_000, lockMs: 5000 };

const url = (meaning: string) => Type.String({ pattern: '^postgres(ql)?://', maxLength: 2000, description: meaning });

export const databaseSchema = Type.Object(
  {
    url: url(
      'postgresql://user:password@host:port/database of a PostgreSQL server, preferably as a reference: "${DATABASE_URL}". ?sslmode= is disable, require (encrypted, the certificate is not checked) or verify-full, the default for servers on other machines. ?sslrootcert= names a file with the trusted certificate authorities. ?host= may be the folder of a local socket.',
    ),
    monitorUrl: Type.Optional(url('The URL for the monitor, with a role that only reads. Default: url.')),
    poolSize: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 200,
        default: defaultDatabase.poolSize,
        description: 'Most connections of each process.',
      }),
    ),
    connectMs: milliseconds('Time to connect to the server', defaultDatabase.connectMs),
    statementMs: milliseconds('Time that a statement may take', defaultDatabase.statementMs),
    lockMs: milliseconds('Time that a statement waits for rows that another transaction has locked', defaultDatabase.lockMs),
  },
  {
    additionalProperties: false,
    description:
      'The database that several gateways share. Default: an SQLite file in the data directory. Changes take effect at the next start.',
  },
);

export type DatabaseConfig = Static<typeof databaseSchema>;
