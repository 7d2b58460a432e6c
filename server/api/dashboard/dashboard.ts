// Serves the dashboard: built by Vite into web/dist, read once at the start, and sent compressed if the browser accepts
// it. The URL of every view returns the same document; its program chooses the view.

import { existsSync, globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from '../problem.ts'
import { createStaticBytes, type StaticBytes, sendStatic } from '../static-bytes.ts'

/** Paths of views; `*` matches any suffix. The views are in web/app/routes.tsx. */
export const viewPaths = ['/', '/signed-in', '/add', '/cameras/*', '/shared/*', '/events', '/settings', '/settings/*']

/** Where `npm start` builds it; missing in a checkout that was never started. */
export const builtDashboard = join(import.meta.dirname, '..', '..', '..', 'web', 'dist')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Only our own scripts and styles; images and video from us or created in the page; no framing. */
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

/** Names of these files contain a hash of their content. */
const fileHeaders = { ...commonHeaders, 'cache-control': 'public, max-age=31536000, immutable' }

/** Returns false and registers nothing if `folder` contains no build. */
export function registerDashboard(server: FastifyInstance, folder = builtDashboard): boolean {
  if (!existsSync(join(folder, 'index.html'))) return false
  const send = (file: StaticBytes, headers: Record<string, string>) => (request: FastifyRequest, reply: FastifyReply) =>
    sendStatic(request, reply, file, headers)
  const document = send(readFile(folder, 'index.html'), documentHeaders)
  const page = (request: FastifyRequest, reply: FastifyReply) => {
    // A program that left out the version would take the page for its answer.
    if (isForProgram(request.headers.accept)) {
      throw new HttpError(404, 'not_found', 'Not found. The paths of the interface begin with /v1/.')
    }
    return document(request, reply)
  }
  for (const path of viewPaths) server.get(path, page)
  for (const name of globSync('app/*.{js,css,svg}', { cwd: folder })) {
    server.get(`/${name}`, send(readFile(folder, name), fileHeaders))
  }
  return true
}

function isForProgram(accept: string | undefined): boolean {
  return accept !== undefined && /\bapplication\/json\b/i.test(accept) && !/\btext\/(?:html|\*)/i.test(accept)
}

function readFile(folder: string, name: string): StaticBytes {
  const [plain, br, gzip] = ['', '.br', '.gz'].map((ending) => readFileSync(join(folder, `${name}${ending}`)))
  return createStaticBytes(types[extname(name)]!, { plain: plain!, br: br!, gzip: gzip! })
}
