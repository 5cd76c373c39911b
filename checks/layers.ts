/**
 * The permitted imports between the top folders of src, as ARCHITECTURE.md draws them. A folder may always import
 * itself and platform. The simulator is a package of its own, which only main imports; house.test.ts has a test for
 * that.
 */
export const layers: Readonly<Record<string, readonly string[]>> = {
  platform: [],
  inference: [],
  dialects: ['inference'],
  upstreams: ['dialects', 'inference'],
  audit: [],
  accounts: ['audit'],
  control: ['accounts', 'audit'],
  billing: ['accounts', 'audit', 'inference'],
  content: ['accounts', 'audit', 'dialects', 'inference'],
  conversations: ['accounts', 'billing', 'inference'],
  tools: ['accounts', 'billing', 'inference'],
  tasks: ['accounts', 'audit', 'billing', 'inference'],
  alerts: ['accounts', 'billing', 'tasks'],
  gateway: ['accounts', 'audit', 'billing', 'content', 'conversations', 'dialects', 'inference', 'tasks', 'tools', 'upstreams'],
  admin: ['accounts', 'alerts', 'audit', 'billing', 'content', 'control', 'conversations', 'inference', 'tasks', 'tools'],
  monitor: ['accounts', 'billing'],
  store: ['accounts', 'alerts', 'audit', 'billing', 'content', 'control', 'conversations', 'inference', 'tasks', 'tools'],
  main: [
    'accounts',
    'admin',
    'alerts',
    'audit',
    'billing',
    'content',
    'control',
    'conversations',
    'dialects',
    'gateway',
    'inference',
    'monitor',
    'store',
    'tasks',
    'tools',
    'upstreams',
  ],
};

/**
 * Folders whose subfolders never import each other: a dialect or an upstream is one folder, and adding one changes only
 * that folder.
 */
export const siblingFolders: readonly string[] = ['dialects', 'upstreams', 'tools'];

/** Words that only these files may contain, with the reason. */
export const restrictedWords: readonly { readonly pattern: RegExp; readonly allowed: RegExp; readonly reason: string }[] = [
  { pattern: /\bprocess\.env\b/, allowed: /^src\/main\//, reason: 'only main reads the environment' },
  {
    pattern: /from 'node:sqlite'/,
    allowed: /^src\/store\/sqlite\/open-database\.ts$/,
    reason: 'only one file imports the SQLite binding',
  },
  { pattern: /\b(?:INSERT INTO|SELECT .* FROM|UPDATE \w+ SET|DELETE FROM)\b/, allowed: /^src\/store\//, reason: 'all SQL is in store' },
  { pattern: /\bDate\.now\(/, allowed: /^src\/platform\/clock\.ts$/, reason: 'domain code gets the clock as a parameter' },
  { pattern: /\benum \w+ \{|\bnamespace \w+ \{/, allowed: /^$/, reason: 'the source runs by type stripping' },
];
