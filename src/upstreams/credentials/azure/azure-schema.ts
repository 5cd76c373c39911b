import Type, { type Static } from 'typebox';

/** The places where a credential of Entra ID may come from, in the order in which they are tried. */
export const azurePlaces = ['client-secret', 'workload-identity', 'app-service', 'instance'] as const;
export type AzurePlace = (typeof azurePlaces)[number];

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description }));
const address = (description: string) => Type.Optional(Type.String({ pattern: '^https?://', description }));

export const azureSchema = Type.Object(
  {
    kind: Type.Literal('azure'),
    from: Type.Optional(
      Type.Enum([...azurePlaces], {
        description:
          'The only place where tokens of Entra ID are taken from. Default: the first that is configured: a client secret, workload identity (AKS), the endpoint of App Service and Container Apps, the metadata of the virtual machine.',
      }),
    ),
    tenantId: text('Directory (tenant) of the application. Default: AZURE_TENANT_ID.'),
    clientId: text('Application (client), or the user-assigned managed identity. Default: AZURE_CLIENT_ID.'),
    clientSecret: text('Secret of the application, preferably as "${NAME}". Default: AZURE_CLIENT_SECRET.'),
    tokenFile: text('File with the token of the service account, for workload identity. Default: AZURE_FEDERATED_TOKEN_FILE.'),
    scope: text('Scope of the tokens. Default: that of the interface which the upstream uses.'),
    loginUrl: address('Address of the login server. Default: AZURE_AUTHORITY_HOST, or https://login.microsoftonline.com.'),
    metadataUrl: address('Address of the metadata service. Default: http://169.254.169.254.'),
  },
  { additionalProperties: false, description: 'Tokens of Microsoft Entra ID.' },
);

export type AzureSettings = Static<typeof azureSchema>;
