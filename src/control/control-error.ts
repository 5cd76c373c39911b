/**
 * `too_many_operations`: too many of a kind have not ended. `operation_ended`: it cannot be cancelled any more.
 * `input_too_large`: an input or a result is larger than the store keeps.
 */
export type ControlErrorCode = 'too_many_operations' | 'operation_ended' | 'input_too_large';

/** A refusal, in words for the person who asked. */
export class ControlError extends Error {
  readonly code: ControlErrorCode;

  constructor(code: ControlErrorCode, message: string) {
    super(message);
    this.name = 'ControlError';
    this.code = code;
  }
}
