import type { Busboy } from '@fastify/busboy';

type Part = { readonly on: (event: 'header', listener: (header: Readonly<Record<string, readonly string[] | undefined>>) => void) => void };
type PartSource = { readonly prependListener: (event: 'part', listener: (part: Part) => void) => void };

/**
 * Records which parts of a form declare a type. The parser reports `text/plain` for a part without a type, as RFC 7578
 * requires. This alone does not distinguish a client that declares no type from one that declares `text/plain`. Only
 * the parser's internal parser of parts knows, and it is not in the parser's types. A test fails if a version lacks it.
 * @returns a function to call when a file begins: the declared type, or undefined if the part declares none
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
