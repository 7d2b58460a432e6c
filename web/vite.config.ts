// Build configuration of the dashboard; see docs/design/web.md. Run by scripts/build-web.ts.

import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  publicDir: false,
  // The content security policy forbids data URLs, so small images are emitted as files too.
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsDir: 'app',
    assetsInlineLimit: 0,
    target: 'es2022',
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Packages mark client-only modules, which matters only for server-side rendering.
      onLog: (level, log, handle) => log.code === 'MODULE_LEVEL_DIRECTIVE' || handle(level, log),
    },
  },
  logLevel: 'warn',
})
