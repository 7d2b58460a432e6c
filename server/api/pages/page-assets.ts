// The style sheet, images and scripts of the pages. Their URLs contain a hash of the content, so that browsers can
// cache them forever.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { compress, type StaticBytes, sendStatic } from '../static-bytes.ts'

/** The URLs of the files. */
export type PageAssets = {
  readonly style: string
  readonly icon: string
  readonly scripts: { readonly passkey: string; readonly password: string }
}

type Asset = { readonly address: string; readonly bytes: StaticBytes }

/** The style sheet consists of these files in this order. */
const styleFiles = ['properties.css', 'layout.css', 'parts.css', 'manual.css']

/** Reads the files and registers a route for each. Call it once. */
export function registerPageAssets(server: FastifyInstance): PageAssets {
  const [icon, dusk, night] = ['nightjar.svg', 'dusk.svg', 'night.svg'].map((file) =>
    createAsset(file, 'image/svg+xml', readLook(file)),
  ) as [Asset, Asset, Asset]
  const styles = styleFiles.map(readLook).join('\n')
  const addressed = styles.replaceAll('dusk.svg', dusk.address).replaceAll('night.svg', night.address)
  const style = createAsset('style.css', 'text/css; charset=utf-8', addressed)
  const passkey = createAsset(
    'passkey.js',
    'text/javascript; charset=utf-8',
    `${readLibrary()}\n${readLook('passkey.js')}`,
  )
  const password = createAsset('password.js', 'text/javascript; charset=utf-8', readLook('password.js'))
  for (const { address, bytes } of [icon, dusk, night, style, passkey, password]) {
    server.get(address, (request, reply) => sendStatic(request, reply, bytes, assetHeaders))
  }
  return { style: style.address, icon: icon.address, scripts: { passkey: passkey.address, password: password.address } }
}

const assetHeaders = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

function readLook(file: string): string {
  return readFileSync(new URL(`./look/${file}`, import.meta.url), 'utf8')
}

/** The WebAuthn library for browsers, as built by its authors. */
function readLibrary(): string {
  const file = createRequire(import.meta.url).resolve('@simplewebauthn/browser')
  return readFileSync(join(dirname(file), '../dist/bundle/index.umd.min.js'), 'utf8')
}

function createAsset(file: string, type: string, text: string): Asset {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 12)
  return { address: `/assets/${file.replace('.', `-${hash}.`)}`, bytes: compress(type, Buffer.from(text)) }
}
