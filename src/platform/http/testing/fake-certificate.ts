const block = (title: string, lines: readonly string[]): string =>
  `-----BEGIN ${title}-----\n${lines.join('\n')}\n-----END ${title}-----\n`;
/** The key of the certificate below. It protects nothing. */
export const key = block('PRIVATE KEY', [
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgySM++DB7x2Q1ZrZu',
  '3/8IoIkzLRo6BFBnfddvRA2awYShRANCAAQCupGvOcAb4IEjP9/03NWMV9ihgX6a',
  'B/GH7w37g4V/KYjkOzieapjy70eqE4d+S/T8gQYGH1m/kvyoZuoA2lyP',
]);

/** A certificate for localhost that its own key has signed. It ends in October 2126. */
export const cert = block('CERTIFICATE', [
  'MIIBljCCATugAwIBAgIUBTxK35ZP41JrK7cT2TiD+Z6yb84wCgYIKoZIzj0EAwIw',
  'FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTIwMDAyNFoYDzIxMjYxMDI4',
  'MjAwMDI0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO',
  'PQMBBwNCAAQCupGvOcAb4IEjP9/03NWMV9ihgX6aB/GH7w37g4V/KYjkOzieapjy',
  '70eqE4d+S/T8gQYGH1m/kvyoZuoA2lyPo2kwZzAdBgNVHQ4EFgQUOgqiJKod7+6Q',
  'uNPzKJbPaOQNVKgwHwYDVR0jBBgwFoAUOgqiJKod7+6QuNPzKJbPaOQNVKgwDwYD',
  'VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID',
  'SQAwRgIhAPl+78JvP7H7mrlbB0hvvDDE+n8I4J5TQEpInjnG5QyeAiEA18nZBHLU',
  'hvc+Wi93EdI+jF+FkNrGzcswDKRHPgs55iA=',
]);
