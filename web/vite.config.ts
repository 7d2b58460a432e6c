// How the dashboard is built: see docs/design/web.md. Run by scripts/build-web.ts.

import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  publicDir: false,
  // The content security policy forbids data: addresses of scripts and styles; small pictures are files as well.
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsDir: 'app',
    assetsInlineLimit: 0,
    target: 'es2022',
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Packages mark what is for browsers alone, which matters to those who render on servers.
      onLog: (level, log, handle) => log.code === 'MODULE_LEVEL_DIRECTIVE' || handle(level, log),
    },
  },
  logLevel: 'warn',
})
