import { GatewayError } from '../../../inference/gateway-error.ts';
import { type ModelKind, modelKinds } from '../../../inference/interfaces.ts';

/**
 * The error for a model that is asked for what it is not made for. It would be charged by what it has no price for, if its vendor answered at all.
 * @param own what it is known to be made for
 */
export function describeOtherKind(requestedModel: string, own: readonly ModelKind[], asked: ModelKind): GatewayError {
  const does = own.map((kind) => modelKinds[kind].does).join(' and ');
  const askedAt = own.map((kind) => modelKinds[kind].askedAt).join(', or ');
  const message = `model: ${requestedModel.slice(0, 256)} ${does}; ask for it at ${askedAt}, or name a model here that ${modelKinds[asked].does}`;
  const internal = `asked for as a model of the kind ${asked}; models.<name>.kind says otherwise what a model is for`;
  return new GatewayError('no_suitable_target', message, { param: 'model', internal });
}
