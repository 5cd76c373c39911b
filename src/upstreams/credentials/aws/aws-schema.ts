import Type, { type Static } from 'typebox';

/** The places where AWS credentials may be, in the order in which they are searched. */
const awsPlaces = ['api-key', 'environment', 'web-identity', 'profile', 'container', 'instance'] as const;

export const awsSchema = Type.Object(
  {
    kind: Type.Literal('aws'),
    accessKeyId: Type.Optional(Type.String({ minLength: 16, maxLength: 128, description: 'Access key id; goes with secretAccessKey.' })),
    secretAccessKey: Type.Optional(Type.String({ minLength: 16, description: 'Secret access key, preferably as "${NAME}".' })),
    sessionToken: Type.Optional(Type.String({ minLength: 1, description: 'Session token of temporary keys.' })),
    from: Type.Optional(
      Type.Enum([...awsPlaces], {
        description:
          'The only place where credentials are taken from. Default: the first that has some: the API key in AWS_BEARER_TOKEN_BEDROCK, environment variables, web identity (EKS), a profile of ~/.aws, the container service (ECS, EKS pod identity), the metadata of the instance (EC2).',
      }),
    ),
    profile: Type.Optional(
      Type.String({ minLength: 1, description: 'Profile of ~/.aws/config and ~/.aws/credentials. Default: AWS_PROFILE, or default.' }),
    ),
    roleArn: Type.Optional(
      Type.String({
        pattern: '^arn:[a-z-]+:iam::[0-9]{12}:role/.+$',
        description: 'Role that is assumed with the credentials that were found (STS AssumeRole).',
      }),
    ),
    externalId: Type.Optional(Type.String({ minLength: 2, maxLength: 1224, description: 'External id that the role requires.' })),
    stsUrl: Type.Optional(
      Type.String({ pattern: '^https?://', description: 'Address of the token service. Default: that of the region.' }),
    ),
  },
  { additionalProperties: false, description: 'Credentials of AWS, with which requests are signed.' },
);

export type AwsSettings = Static<typeof awsSchema>;
