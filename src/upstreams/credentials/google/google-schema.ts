import Type, { type Static } from 'typebox';

/** The places where Google's credentials may be, in the order in which they are searched. */
const googlePlaces = ['variable', 'user-file', 'metadata'] as const;

export const googleSchema = Type.Object(
  {
    kind: Type.Literal('google'),
    file: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'File with a credential: the key of a service account, a user of gcloud, or workload identity federation. It is read again for each token.',
      }),
    ),
    json: Type.Optional(Type.String({ minLength: 2, description: 'The content of such a file, preferably as "${NAME}".' })),
    from: Type.Optional(
      Type.Enum([...googlePlaces], {
        description:
          'The only place where a credential is taken from. Default: the first that has one: the file that GOOGLE_APPLICATION_CREDENTIALS names, the file of gcloud in the home directory, the metadata server (GKE, Cloud Run, virtual machines).',
      }),
    ),
    metadataUrl: Type.Optional(
      Type.String({
        pattern: '^https?://',
        description: 'Address of the metadata server. Default: GCE_METADATA_HOST, or http://metadata.google.internal.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Tokens of Google Cloud.' },
);

export type GoogleSettings = Static<typeof googleSchema>;
