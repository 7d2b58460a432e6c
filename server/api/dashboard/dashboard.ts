// The dashboard's files: built by Vite into web/dist, read once at the start, sent compressed where the browser takes it.
// Every address of a view is answered by the same document; which view it is, the program in it decides.

import { existsSync, globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { transportHeaders } from '../answer.ts'
import { createStaticBytes, type StaticBytes, sendStatic } from '../static-bytes.ts'

/** Addresses of views; `*` stands for whatever follows. The views themselves are in web/app/routes.tsx. */
export const viewPaths = ['/', '/signed-in', '/add', '/cameras/*', '/shared/*', '/events', '/settings', '/settings/*']

/** Where `npm start` has it built; nothing is there in a checkout that was never started. */
export const builtDashboard = join(import.meta.dirname, '..', '..', '..', 'web', 'dist')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Scripts and styles of ours alone, pictures and video of ours or made in the page; no frame around it. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const commonHeaders = {
  ...transportHeaders,
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
}

const documentHeaders = {
  ...commonHeaders,
  'cache-control': 'no-cache',
  'content-security-policy': policy,
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
}

/** Names of these hold a hash of what they are. */
const fileHeaders = { ...commonHeaders, 'cache-control': 'public, max-age=31536000, immutable' }

/** False, and nothing registered, when none was built in `folder`. */
export function registerDashboard(server: FastifyInstance, folder = builtDashboard): boolean {
  if (!existsSync(join(folder, 'index.html'))) return false
  const send = (file: StaticBytes, headers: Record<string, string>) => (request: FastifyRequest, reply: FastifyReply) =>
    sendStatic(request, reply, file, headers)
  const document = send(readFile(folder, 'index.html'), documentHeaders)
  for (const path of viewPaths) server.get(path, document)
  for (const name of globSync('app/*.{js,css,svg}', { cwd: folder })) {
    server.get(`/${name}`, send(readFile(folder, name), fileHeaders))
  }
  return true
}

function readFile(folder: string, name: string): StaticBytes {
  const [plain, br, gzip] = ['', '.br', '.gz'].map((ending) => readFileSync(join(folder, `${name}${ending}`)))
  return createStaticBytes(types[extname(name)]!, { plain: plain!, br: br!, gzip: gzip! })
}
