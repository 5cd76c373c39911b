import { mapBuiltPositions } from '../src/platform/built-positions.ts';

/** A part of every bundled program: its stacks name the sources. A stack is formatted only when it is read. */
Error.prepareStackTrace = (error: unknown, frames: readonly { readonly toString: () => string }[]): string => {
  const lines = frames.map((frame) => `\n    at ${mapBuiltPositions(frame.toString())}`);
  return `${describe(error)}${lines.join('')}`;
};

function describe(error: unknown): string {
  try {
    return String(error);
  } catch {
    // An error may have members that throw.
    return 'Error';
  }
}
