const keyPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

/** Whether a text is the key of a complete file. */
export function isMediaKey(key: string): boolean {
  return keyPattern.test(key);
}

/**
 * Keys consist of letters, digits, `_` and `-` only, so that none can leave a storage or have a meaning in it.
 * @throws RangeError for any other key
 */
export function assertMediaKey(key: string): void {
  if (!isMediaKey(key))
    throw new RangeError('The key of a file must be 1 to 128 letters, digits, "_" and "-", and must begin with a letter or digit.');
}

/**
 * The key that a storage lists for an unfinished file. It has a character that no key of a complete file has, so the
 * two cannot be confused.
 * @param name how the storage identifies the file: letters, digits, `_` and `-`
 */
export function toUnfinishedKey(key: string, name: string): string {
  return `${key}.${name}`;
}

/**
 * The parts of a key made by `toUnfinishedKey`; undefined for the key of a complete file.
 * @throws RangeError for any other text
 */
export function readUnfinishedKey(key: string): { readonly key: string; readonly name: string } | undefined {
  const [fileKey = '', name, ...rest] = key.split('.');
  assertMediaKey(fileKey);
  if (name === undefined) return undefined;
  if (rest.length > 0 || !/^[A-Za-z0-9_-]{1,2048}$/.test(name)) throw new RangeError('This is not the key of an unfinished file.');
  return { key: fileKey, name };
}
