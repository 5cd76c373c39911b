import type { Static, TObject, TSchema } from 'typebox';

import type { AdminContext, Answer, Input, Operation, Schemas, Shape, StreamAnswer, VersionOf } from './operation.ts';
import { readInput } from './read-input.ts';

export type Definition<Services, Params extends TObject, Query extends TObject, Body extends TSchema, Reply extends TSchema> = Shape &
  Schemas<Params, Query, Body, Reply> & {
    readonly subject?: (params: Readonly<Record<string, string>>) => string;
    readonly versionOf?: VersionOf<Services>;
    readonly present?: (params: Readonly<Record<string, string>>, services: Services) => Promise<unknown>;
    readonly handle: (
      input: Input<Static<Params>, Static<Query>, Static<Body>>,
      context: AdminContext<Services>,
    ) => Promise<Answer<Static<Reply>> | StreamAnswer>;
  };

/** Makes an operation from its schemas and its handler, which only gets input that fits them. */
export function operation<
  Services,
  Params extends TObject = TObject<{}>,
  Query extends TObject = TObject<{}>,
  Body extends TSchema = TSchema,
  Reply extends TSchema = TSchema,
>(
  definition: Definition<Services, Params, Query, Body, Reply>,
): Operation<Services, Static<Params>, Static<Query>, Static<Body>, Static<Reply>> {
  const { params, query, body, reply, handle, ...shape } = definition;
  const read = readInput<Params, Query, Body>({ params, query, body });
  const schemas = {
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body }),
    ...(reply === undefined ? {} : { reply }),
  };
  return { ...shape, schemas, run: async (input, context) => await handle(read(input), context) };
}
