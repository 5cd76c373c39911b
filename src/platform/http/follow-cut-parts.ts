import type { Busboy } from '@fastify/busboy';

/**
 * Keeps a form that is cut short from ending the process. Its parser reports the mistake by its own event, and also by
 * the stream of the file, which nobody may read any more: after a refusal, or after a failed write. An error event
 * without a listener is thrown.
 */
export function followCutParts(parser: InstanceType<typeof Busboy>): void {
  parser.on('file', (_name, stream) => {
    stream.on('error', () => {
      // The event of the parser refuses the form.
    });
  });
}
