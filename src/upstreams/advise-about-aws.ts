import type { AccountFacts } from './account-facts.ts';
import type { OperatorRefusal } from './upstream-vendor.ts';

/** A refusal of AWS: its words, its status, and the model that was asked for. */
type AwsRefusal = Pick<OperatorRefusal, 'status' | 'message' | 'model'>;

/**
 * What to do about the refusals that operators of models at AWS meet. Undefined for all others. Sources:
 * "troubleshooting" of the Bedrock user guide, "common errors" of its API reference.
 */
export function adviseAboutAws({ status, message, model }: AwsRefusal, { region }: AccountFacts): string | undefined {
  if (/signature expired|not yet current|too skewed/i.test(message))
    return 'the clock of this machine is wrong, and AWS accepts five minutes: synchronize it (timedatectl set-ntp true)';
  if (/scoped to|credential should be/i.test(message))
    return `the region of the upstream and its address differ${region === undefined ? '' : `, and requests are signed for ${region}`}: correct region or baseUrl`;
  if (/does not match the signature/i.test(message))
    return 'the secret access key does not belong to the access key, or a proxy changed the request: write both keys again';
  if (/security token|missing authentication/i.test(message))
    return 'AWS does not know these credentials, or they have ended: replace them where they come from, or choose another place with credential.from';
  if (/on-demand throughput/i.test(message))
    return `"${model}" exists only as an inference profile: write eu., us. or global. before its id`;
  if (/model identifier is invalid/i.test(message))
    return `${region ?? 'the region'} does not know "${model}": write the id of the model or of a profile, and name the model behind it with is`;
  if (status === 403)
    return `access to "${model}" is not granted: enable the model for the account, and give the identity bedrock:InvokeModel on the model and on its profile`;
  return undefined;
}
