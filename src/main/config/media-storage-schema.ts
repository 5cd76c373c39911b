import Type, { type Static } from 'typebox';

export const s3Schema = Type.Object(
  {
    endpoint: Type.String({
      pattern: '^https?://[^/?#@]+/?$',
      description: 'Address of the service without the bucket, such as https://s3.eu-central-1.amazonaws.com.',
    }),
    region: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Region that requests are signed for; "auto" if the service has no regions.',
    }),
    bucket: Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$', description: 'Bucket, which must exist.' }),
    accessKeyId: Type.String({ minLength: 1, description: 'Access key, preferably as a reference: "${NAME}".' }),
    secretAccessKey: Type.String({ minLength: 1, description: 'Secret of the access key, as a reference: "${NAME}".' }),
    prefix: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$',
        description: 'Prefix of the names of all objects, such as weir/. Each database has its own folder below it.',
      }),
    ),
    forcePathStyle: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Whether the bucket is in the path of addresses. false: it is in the host name.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'An object store with the interface of Amazon S3. Default: the folder media of the data directory.',
  },
);

export const mediaStorageSchema = Type.Object(
  { s3: Type.Optional(s3Schema) },
  {
    additionalProperties: false,
    description: 'Storage of finished videos and of images with links. Changes take effect at the next start.',
  },
);

export type MediaStorageConfig = Static<typeof mediaStorageSchema>;
