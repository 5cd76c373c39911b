import { AdminProblem } from '../../../admin/problem.ts';
import type { ProblemCode } from '../../../admin/problem-codes.ts';
import { StartError } from '../../environment.ts';

/** The refusal of content, which only a configuration can allow. */
export const contentDenied = (): StartError =>
  new StartError('the configuration does not let operators read content; see console.readContent');

/** Replaces a refusal of an operation by an error that names commands. Other errors stay. */
export async function wordRefusal<Result>(work: Promise<Result>, code: ProblemCode, error: () => Error): Promise<Result> {
  try {
    return await work;
  } catch (caught) {
    if (caught instanceof AdminProblem && caught.code === code) throw error();
    throw caught;
  }
}
