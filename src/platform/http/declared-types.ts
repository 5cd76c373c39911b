import type { Busboy } from '@fastify/busboy';

type Part = { readonly on: (event: 'header', listener: (header: Readonly<Record<string, readonly string[] | undefined>>) => void) => void };
type PartSource = { readonly prependListener: (event: 'part', listener: (part: Part) => void) => void };

/**
 * Follows which parts of a form declare a type. The parser tells `text/plain` for a part that declares none, as RFC 7578 has it: by that alone a client that says nothing cannot be told from one
 * that calls its file a text. Only the parser's own parser of parts knows; it is not part of its types, so that one without it is refused by a test.
 * @returns the type as it was declared, to be asked when a file begins; undefined where its part declares none
 */
export function followDeclaredTypes(parser: InstanceType<typeof Busboy>): (told: string) => string | undefined {
  let isDeclared = true;
  const { _parser: forms } = parser as { readonly _parser?: { readonly parser?: PartSource } };
  forms?.parser?.prependListener('part', (part) => {
    part.on('header', (header) => {
      isDeclared = header['content-type'] !== undefined;
    });
  });
  return (told) => (isDeclared ? told : undefined);
}
