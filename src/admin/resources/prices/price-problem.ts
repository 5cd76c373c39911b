import { PublicationError } from '../../../billing/price-books/publish-prices.ts';
import { PriceBookError } from '../../../billing/rating/parse-price-book.ts';
import { JobError } from '../../../platform/isolation/isolated-job.ts';
import { AdminProblem, type FieldProblem, unavailable } from '../../problem.ts';
import { versionMismatch } from '../../server/if-match.ts';

/** Problems of prices that one answer lists. */
const problemsMax = 200;

/** A refusal of prices as a problem with the place of each mistake; other errors as they are. */
export function refusePrices(error: unknown): never {
  if (error instanceof PriceBookError) {
    const errors = error.problems.slice(0, problemsMax).map(placeOf);
    const rest = error.problems.length > problemsMax ? ` The first ${problemsMax} of ${error.problems.length} are listed.` : '';
    throw new AdminProblem('invalid_request', `The prices cannot be used.${rest}`, { errors, cause: error });
  }
  if (error instanceof PublicationError) {
    if (error.code === 'meanwhile') throw versionMismatch(error.newest);
    const detail = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
    if (error.code === 'role') throw new AdminProblem('conflict', detail, { cause: error });
    throw new AdminProblem('invalid_request', detail, { errors: [{ pointer: '/from', code: 'past', detail }] });
  }
  if (error instanceof JobError) throw unavailable('Too many price lists wait to be read; try again.', error);
  throw error;
}

/** A problem such as `/entries/3/tiers must …` by the place in the book, or one whose text names its place. */
function placeOf(problem: string): FieldProblem {
  const path = /^\/\S+/.exec(problem)?.[0] ?? '';
  return { pointer: `/book${path}`, code: 'price', detail: problem };
}
