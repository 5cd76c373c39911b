import { type AccountFacts, isDated } from './account-facts.ts';
import type { OperatorRefusal } from './upstream-vendor.ts';

/** What to do about the refusals that operators of Azure meet. Undefined for all others. */
export function adviseAboutAzure({ status, code = '', message, model, hasKey }: OperatorRefusal, facts: AccountFacts): string | undefined {
  if (code === 'DeploymentNotFound')
    return `the resource has no deployment "${model}": write the name of the deployment, not of its model, into model of the target, and name the model with is; a new deployment needs some minutes`;
  // A wrong version and a wrong path have the same answer.
  if (status === 404 && /^resource not found$/i.test(message))
    return isDated(facts)
      ? `the resource does not know apiVersion ${facts.apiVersion}, or not this path: leave apiVersion out to use v1`
      : 'this path is not there: baseUrl is the endpoint of the resource, such as https://NAME.openai.azure.com, and apiVersion is only for older versions';
  if (code === 'PermissionDenied' || /does not have access|lacks the required data action/i.test(message))
    return 'the identity is known, and has no right to call models: give it the role "Cognitive Services OpenAI User" on the resource, and wait some minutes';
  if (status === 403 && /virtual network|firewall/i.test(message))
    return "the resource accepts no calls from this network: allow this machine's address, or use a private endpoint";
  if (status === 401 && !hasKey)
    return 'the token is refused: credential.scope must be that of the interface, and the application must be of the tenant of the resource';
  if (status === 401) return 'the key is not one of this resource: copy it from "Keys and Endpoint" of the resource that baseUrl names';
  if (code === 'OperationNotSupported' || /operation does not work with the specified model/i.test(message))
    return `the model of deployment "${model}" does not have this interface: leave it out of dialects`;
  if (status === 400 && /api version not supported/i.test(message)) return 'v1 takes no date: leave apiVersion out, or write preview';
  return undefined;
}
