import Type, { type Static } from 'typebox';

const name = (pattern: string, description: string) => Type.Optional(Type.String({ pattern, description }));

/** The facts about an account of a cloud that decide its addresses: members of an upstream in the configuration. */
export const accountFactFields = {
  region: name('^[a-z0-9-]{1,64}$', 'Region of the cloud, such as eu-central-1. Only for clouds that have regional addresses.'),
  project: name('^[a-z0-9.:-]{1,64}$', 'Project of Google Cloud. Not needed with an API key of express mode.'),
  workspace: name('^[A-Za-z0-9_-]{1,128}$', 'Id of the workspace of the Claude Platform on AWS or Google Cloud, such as wrkspc_01AbCdEf.'),
  location: name('^[a-z0-9-]{1,64}$', 'Location of Vertex AI: a region, us, eu or global. Default: global.'),
  resource: name('^[A-Za-z0-9-]{1,64}$', 'Name of the Azure resource, from which the address follows. Not needed with baseUrl.'),
  apiVersion: name(
    '^(v1|preview|latest|[0-9]{4}-[0-9]{2}-[0-9]{2}(-preview)?)$',
    "Version of Azure's interface: a date such as 2025-04-01-preview for the older paths with deployments, or preview for features of v1 that are not released. Default: v1.",
  ),
  endpoint: Type.Optional(
    Type.Enum(['runtime', 'mantle'], {
      description:
        'Which of the two services of AWS Bedrock is called: bedrock-runtime or bedrock-mantle. They have different names of models and separate quotas. Default: runtime.',
    }),
  ),
  betas: Type.Optional(
    Type.Array(Type.String({ pattern: '^[a-z0-9-]{1,100}$' }), {
      maxItems: 100,
      description:
        'Beta flags of Messages that AWS Bedrock or Vertex AI accepts besides the known ones. Others are left out, because they are refused.',
    }),
  ),
  videoBucket: Type.Optional(
    Type.Object(
      {
        uri: Type.String({
          pattern: '^gs://[a-z0-9][a-z0-9._-]{1,220}[a-z0-9](/[A-Za-z0-9._/-]{0,500})?$',
          description: 'Where the videos are written: gs://bucket, or gs://bucket/folder.',
        }),
        endpoint: Type.Optional(
          Type.String({ pattern: '^https?://', description: 'Address of Cloud Storage. Default: https://storage.googleapis.com.' }),
        ),
      },
      {
        additionalProperties: false,
        description:
          'The bucket into which Vertex AI writes videos, which are fetched from there. Default: a finished operation has the video in it.',
      },
    ),
  ),
  guardrail: Type.Optional(
    Type.Object(
      {
        id: Type.String({ pattern: '^[A-Za-z0-9:/_-]{1,2048}$', description: 'Id or ARN of the guardrail.' }),
        version: Type.String({ pattern: '^([1-9][0-9]{0,7}|DRAFT)$', description: 'Its version: a number, or DRAFT.' }),
        trace: Type.Optional(
          Type.Boolean({
            description: 'Whether replies say what the guardrail found, for the log. Clients do not see it. Default: true.',
          }),
        ),
        stream: Type.Optional(
          Type.Enum(['sync', 'async'], {
            description: 'Whether parts of a stream wait until they were checked. Only for models of Converse. Default: sync.',
          }),
        ),
      },
      {
        additionalProperties: false,
        description:
          'The guardrail of AWS Bedrock that checks all prompts and replies of this upstream. Claude is then called by InvokeModel only, and models of OpenAI by chat completions only.',
      },
    ),
  ),
};

const factsSchema = Type.Object(accountFactFields);

/** The facts about an account. Each cloud needs some of them. */
export type AccountFacts = Static<typeof factsSchema>;
export type AccountFact = keyof AccountFacts;

/** Picks the facts from the settings of an upstream. */
export function factsOf(settings: AccountFacts): AccountFacts {
  // The keys are those of the table.
  const entries = (Object.keys(accountFactFields) as AccountFact[]).flatMap((fact) =>
    settings[fact] === undefined ? [] : [[fact, settings[fact]] as const],
  );
  return Object.fromEntries(entries);
}

/** Whether Azure's older interface is used, whose version is a date. Otherwise it is OpenAI's own, under `v1`. */
export const isDated = ({ apiVersion }: AccountFacts): boolean => apiVersion !== undefined && /^\d{4}-/.test(apiVersion);
