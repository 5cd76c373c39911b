import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose';

import type { Claims } from './claim-names.ts';
import { type TokenIssuer, tokenLeewaySeconds } from './token-issuer.ts';
import { refuse, type TokenRefusal } from './token-refusal.ts';

/** The members that are read before the signature is checked. They only choose the issuer and the key. */
export function parseToken(token: string): { issuer: string; algorithm: string; kid: string | undefined } | undefined {
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    const { iss } = decodeJwt(token);
    return typeof iss === 'string' && typeof alg === 'string' ? { issuer: iss, algorithm: alg, kid } : undefined;
  } catch {
    // Text that cannot be parsed is not a token.
    return undefined;
  }
}

type Checked = { readonly claims: Claims; readonly endsAtMs: number; readonly isExpired: boolean };

/** Verifies signature, issuer, audience and times. A token that is only too old is not refused here. */
export async function checkToken(
  token: string,
  { issuer, audiences, algorithms }: TokenIssuer,
  keys: Parameters<typeof jwtVerify>[1],
  nowMs: number,
): Promise<Checked | TokenRefusal> {
  const rules = {
    issuer,
    audience: [...audiences],
    algorithms: [...algorithms],
    clockTolerance: tokenLeewaySeconds,
    requiredClaims: ['exp'],
    currentDate: new Date(nowMs),
  };
  try {
    const { payload } = await jwtVerify(token, keys, rules);
    return { claims: payload, endsAtMs: endOf(payload.exp), isExpired: false };
  } catch (error) {
    // The signature, the issuer and the audience are checked before the times.
    if (error instanceof errors.JWTExpired && error.claim === 'exp')
      return { claims: error.payload, endsAtMs: endOf(error.payload.exp), isExpired: true };
    if (error instanceof errors.JOSEError || error instanceof TypeError) return refuse(describe(error, audiences));
    throw error;
  }
}

/** A day that no clock reaches would be no date. */
const latestMs = 8_640_000_000_000_000;

function endOf(exp: number | undefined): number {
  return Math.min(((exp ?? 0) + tokenLeewaySeconds) * 1000, latestMs);
}

/** The mistake of a token, in words without its values. Claims are checked after the signature. */
function describe(error: Error, audiences: readonly string[]): string {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
    if (error.claim === 'aud') return `its audience (aud) must be ${audiences.join(' or ')}`;
    if (error.claim === 'nbf') return 'it is not valid yet (nbf)';
    return `its claim ${error.claim} is missing or wrong`;
  }
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
    return 'no public key of its issuer fits its signature';
  return 'it cannot be read';
}
