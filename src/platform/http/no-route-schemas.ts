import type { FastifyServerOptions } from 'fastify';

/**
 * For servers whose routes have no schemas of Fastify's, because they check bodies with their own: Fastify then does
 * not load its compilers, which take 20 ms of a start.
 */
export const noRouteSchemas: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse },
};

function refuse(): never {
  throw new Error('a route has a schema of its own, and this server compiles none');
}
