import manifest from '../../package.json' with { type: 'json' };

/** What runs: its version, and the commit that a released package was made of. Sources and their bundle name none. */
export type Release = { readonly version: string; readonly commit?: string };

export const release: Release = {
  version: manifest.version,
  ...('commit' in manifest && typeof manifest.commit === 'string' && { commit: manifest.commit }),
};

/** `0.1.0`, or `0.1.0 (3f2a91c4)` in a released package. */
export const releaseText = release.commit === undefined ? release.version : `${release.version} (${release.commit})`;
