/** Secrets are at most this long. Anything longer is refused before it is hashed. */
export const secretCharactersMax = 256;
/** Secrets that an operator chooses are at least this long. */
export const chosenSecretCharactersMin = 8;
