import Type, { type Static } from 'typebox';

const milliseconds = (meaning: string, fallback: number) =>
  Type.Optional(Type.Integer({ minimum: 10, maximum: 600_000, default: fallback, description: `${meaning}, in milliseconds.` }));

/** What is used where the file says nothing. */
export const defaultDatabase = { poolSize: 10, connectMs: 5000, statementMs: 15_000, lockMs: 5000 };

const url = (meaning: string) => Type.String({ pattern: '^postgres(ql)?://', maxLength: 2000, description: meaning });

export const databaseSchema = Type.Object(
  {
    url: url(
      'postgresql://user:password@host:port/database of a PostgreSQL server, best as a reference: "${DATABASE_URL}". ?sslmode= is disable, require (encrypted, the certificate is not checked) or verify-full, which is the default for a server that is not on this machine; ?sslrootcert= names a file with the authorities to trust; ?host= may be the folder of a local socket.',
    ),
    monitorUrl: Type.Optional(url('The same for the monitor, with a role that only reads. Default: url.')),
    poolSize: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 200,
        default: defaultDatabase.poolSize,
        description: 'Connections that each process opens at most.',
      }),
    ),
    connectMs: milliseconds('Time to reach the server', defaultDatabase.connectMs),
    statementMs: milliseconds('Time that a statement may take', defaultDatabase.statementMs),
    lockMs: milliseconds("Time that a statement waits for another transaction's rows", defaultDatabase.lockMs),
  },
  {
    additionalProperties: false,
    description: 'The database that several gateways share. Default: a file of SQLite in the data directory. Read at the start.',
  },
);

export type DatabaseConfig = Static<typeof databaseSchema>;
