import type { Busboy } from '@fastify/busboy';

/**
 * Ignores the errors of the files of a form, which its parser also reports by its own event. Nobody may listen to those
 * of a file after a refusal or a failed write, and an error event without a listener ends the process.
 */
export function ignoreFileErrors(parser: InstanceType<typeof Busboy>): void {
  parser.on('file', (_name, stream) => {
    stream.on('error', () => {
      // The event of the parser refuses the form.
    });
  });
}
