import { Link } from '@tanstack/react-router';

import { paths } from '../paths.ts';

/** To the list of all long work; with `id`, with this piece open. */
export function LongWorkLink({ id }: { readonly id?: string }) {
  return (
    <Link to={paths.operations} search={id === undefined ? {} : { operation: id }}>
      All long work
    </Link>
  );
}
