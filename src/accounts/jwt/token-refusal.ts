/** Why a signed token is refused, in words for the one who sent it: `its audience (aud) must be weir`. */
export type TokenRefusal = { readonly refused: string };

export const refuse = (reason: string): TokenRefusal => ({ refused: reason });

export function isRefused(found: object | string | undefined): found is TokenRefusal {
  return typeof found === 'object' && 'refused' in found;
}
