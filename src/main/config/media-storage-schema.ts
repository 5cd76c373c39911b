import Type, { type Static } from 'typebox';

const s3Schema = Type.Object(
  {
    endpoint: Type.String({
      pattern: '^https?://[^/?#@]+/?$',
      description: 'Address of the service without the bucket, such as https://s3.eu-central-1.amazonaws.com.',
    }),
    region: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Region that requests are signed for; "auto" where the service has none.',
    }),
    bucket: Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$', description: 'Bucket, which has to exist.' }),
    accessKeyId: Type.String({ minLength: 1, description: 'Access key, best as a reference: "${NAME}".' }),
    secretAccessKey: Type.String({ minLength: 1, description: 'Its secret, as a reference: "${NAME}".' }),
    prefix: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$',
        description: 'What the names of all objects begin with, such as weir/. Each database has a folder of its own below it.',
      }),
    ),
    forcePathStyle: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Whether the bucket stands in the path of addresses. false for services that want it in the host name.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'An object store that speaks the interface of Amazon S3. Default: the folder media of the data directory.',
  },
);

export const mediaStorageSchema = Type.Object(
  { s3: Type.Optional(s3Schema) },
  {
    additionalProperties: false,
    description: 'Where finished videos, and pictures with links, are kept. Read at the start.',
  },
);

export type MediaStorageConfig = Static<typeof mediaStorageSchema>;
