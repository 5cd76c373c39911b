import Type, { type Static } from 'typebox';

import { awsSchema } from '../aws/aws-schema.ts';
import { azureSchema } from '../azure/azure-schema.ts';
import { googleSchema } from '../google/google-schema.ts';

export const defaultSecrets = { refreshSeconds: 300, waitSeconds: 10 } as const;

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description }));
const address = (description: string) => Type.Optional(Type.String({ pattern: '^https?://', description }));
const mount = (fallback: string) => text(`Path of the login method in Vault. Default: ${fallback}.`);

const loginSchema = Type.Union(
  [
    Type.Object(
      {
        kind: Type.Literal('token'),
        token: text('The token, as "${NAME}". Default: VAULT_TOKEN. Weir renews it while Vault allows it.'),
        tokenFile: text('A file with the token, read at each use, such as the one that Vault Agent writes.'),
      },
      { additionalProperties: false, description: 'A token.' },
    ),
    Type.Object(
      {
        kind: Type.Literal('kubernetes'),
        role: Type.String({ minLength: 1, description: 'Role of the login method.' }),
        mount: mount('kubernetes'),
        tokenFile: text('File with the token of the service account. Default: that of the pod.'),
      },
      { additionalProperties: false, description: 'The service account of a pod.' },
    ),
    Type.Object(
      {
        kind: Type.Literal('app-role'),
        roleId: Type.String({ minLength: 1, description: 'Id of the role.' }),
        secretId: text('Secret id, as "${NAME}".'),
        secretIdFile: text('A file with the secret id, read at each login.'),
        mount: mount('approle'),
      },
      { additionalProperties: false, description: 'A role for a machine.' },
    ),
  ],
  { description: 'How Weir signs in to Vault. Default: with a token.' },
);

const vaultSchema = Type.Object(
  {
    address: address('Address of Vault. Default: VAULT_ADDR.'),
    namespace: text('Namespace of Vault Enterprise. Default: VAULT_NAMESPACE.'),
    mount: text('Path of the KV engine (version 2) that references are below. Default: the first part of each reference.'),
    login: Type.Optional(loginSchema),
  },
  { additionalProperties: false, description: 'HashiCorp Vault or OpenBao, for references such as "${vault:secret/weir/openai#key}".' },
);

const seconds = (minimum: number, maximum: number, fallback: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, default: fallback, description }));

/** The part `secrets` of the configuration. */
export const secretsSchema = Type.Object(
  {
    refreshSeconds: seconds(
      1,
      86_400,
      defaultSecrets.refreshSeconds,
      'How often secrets are read again, in seconds, unless their service says sooner. Files are read each second.',
    ),
    waitSeconds: seconds(
      0,
      300,
      defaultSecrets.waitSeconds,
      'Longest time that a start waits for secrets, in seconds. Afterwards it goes on without keys of upstreams, and fails without any other secret.',
    ),
    vault: Type.Optional(vaultSchema),
    aws: Type.Optional(
      Type.Object(
        {
          region: Type.Optional(
            Type.String({
              pattern: '^[a-z0-9-]{1,64}$',
              description: 'Region of the secrets. Default: AWS_REGION. A reference with an ARN has its own.',
            }),
          ),
          url: address('Address of Secrets Manager, for an endpoint in a VPC. Default: that of the region.'),
          ...Type.Omit(awsSchema, ['kind']).properties,
        },
        {
          additionalProperties: false,
          description: 'AWS Secrets Manager, for references such as "${aws-sm:weir/openai}". Default: the usual credentials of AWS.',
        },
      ),
    ),
    google: Type.Optional(
      Type.Object(
        {
          url: address('Address of Secret Manager. Default: https://secretmanager.googleapis.com.'),
          ...Type.Omit(googleSchema, ['kind']).properties,
        },
        {
          additionalProperties: false,
          description:
            'Google Secret Manager, for references such as "${gcp-sm:projects/acme/secrets/openai}". Default: the usual credentials of Google.',
        },
      ),
    ),
    azure: Type.Optional(
      Type.Object(
        {
          url: address('Address of the vault, for tests and proxies. Default: https://<vault>.vault.azure.net.'),
          ...Type.Omit(azureSchema, ['kind']).properties,
        },
        {
          additionalProperties: false,
          description: 'Azure Key Vault, for references such as "${azure-kv:acme-vault/openai}". Default: the usual credentials of Azure.',
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    description:
      'Where the secrets are that this file refers to. "${file:/run/secrets/x}" needs no settings. Values here may be variables, "${NAME}", but no secrets by reference.',
  },
);

export type SecretsSettings = Static<typeof secretsSchema>;
export type VaultSettings = Static<typeof vaultSchema>;
export type VaultLogin = Static<typeof loginSchema>;
