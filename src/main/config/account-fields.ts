import Type from 'typebox';

import { accountFactFields } from '../../upstreams/account-facts.ts';
import { credentialSchemas } from '../../upstreams/credentials/registry.ts';

/** The members of an upstream that describe its account: keys, or the credential and the facts of a cloud. */
export const accountFields = {
  apiKey: Type.Optional(
    Type.String({ minLength: 1, description: 'Credential, preferably as a reference: "${NAME}". Without it, no credential is sent.' }),
  ),
  apiKeys: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      maxItems: 64,
      description: 'Several credentials of one account, instead of apiKey. Calls are distributed among them.',
    }),
  ),
  credential: Type.Optional(
    Type.Union([...credentialSchemas], {
      description:
        'Where short-lived credentials of a cloud come from, instead of apiKey. They are renewed before they end; upstreams with equal settings share them.',
    }),
  ),
  ...accountFactFields,
};
