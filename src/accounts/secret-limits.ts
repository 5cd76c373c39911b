/** A longer secret is refused before it is hashed. */
export const secretCharactersMax = 256;
/** The least length of a secret that an operator chooses. */
export const chosenSecretCharactersMin = 8;
