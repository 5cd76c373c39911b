import { fileURLToPath } from 'node:url';

import react from '@vitejs/plugin-react';

const layers = '@layer reset, tokens, ui, components, pages;';

/**
 * Styles are loaded in pieces, in any order. The first piece sets the order of the layers, so each begins with it.
 * @returns {import('vite').Plugin}
 */
const orderLayers = () => ({
  name: 'order-layers',
  enforce: 'pre',
  transform: (code, id) =>
    id.includes('/console/src/') && id.split('?', 1)[0]?.endsWith('.css') ? { code: `${layers}\n${code}`, map: null } : undefined,
});

/** What the first page needs, in two files: small files cost a round trip each. What opens on demand stays apart. */
const groups = [
  { name: 'libraries', tags: ['$initial'], test: /\/node_modules\// },
  { name: 'parts', tags: ['$initial'], test: /\/console\/src\// },
];

/** The settings of Vite for the build and for development. */
export const settings = {
  root: fileURLToPath(new URL('.', import.meta.url)),
  configFile: false,
  logLevel: 'warn',
  plugins: [orderLayers(), react()],
  css: { modules: { generateScopedName: '[name]-[local]-[hash:base64:4]' } },
  build: {
    target: 'es2023',
    cssMinify: 'lightningcss',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    emptyOutDir: true,
    // Which file loads which: read by the test of the budgets.
    manifest: 'chunks.json',
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
};
