import type { Json, VendorError } from '../../simulated-vendor.ts';
import { refuse } from './responses-error.ts';

/** How a stream of audio events reports a failure. */
export const audioErrorFrame = `data: ${JSON.stringify({
  type: 'error',
  error: {
    type: 'server_error',
    code: 'server_error',
    message: 'The server had an error while processing your request. Sorry about that!',
    param: null,
  },
})}\n\n`;

/**
 * The refusal of one member of a request, with the message of the vendor's validator, which the error carries as a
 * list.
 */
export function refuseField(member: string, type: string, message: string, input: Json | undefined): VendorError {
  const shown = input === undefined ? 'None' : typeof input === 'string' ? `'${input}'` : JSON.stringify(input);
  return refuse(`[{'type': '${type}', 'loc': ('body', '${member}'), 'msg': "${message}", 'input': ${shown}}]`, { param: member });
}

export function refuseMissingModel(model: string): VendorError {
  return refuse(`The model \`${model}\` does not exist or you do not have access to it.`, { status: 404, code: 'model_not_found' });
}
