// The style sheet and the pictures of the pages. Their addresses hold a hash of what they are, so that browsers keep them for good.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { transportHeaders } from '../answer.ts'
import { compress, type StaticBytes, sendStatic } from '../static-bytes.ts'

/** Addresses to link to. */
export type Look = { readonly style: string; readonly icon: string }

type Asset = { readonly address: string; readonly bytes: StaticBytes }

/** One after the other they are the style sheet. */
const styleFiles = ['properties.css', 'layout.css', 'parts.css', 'manual.css']

/** Reads the files; call once. */
export function registerLook(server: FastifyInstance): Look {
  const [icon, dusk, night] = ['nightjar.svg', 'dusk.svg', 'night.svg'].map((file) =>
    createAsset(file, 'image/svg+xml', readLook(file)),
  ) as [Asset, Asset, Asset]
  const styles = styleFiles.map(readLook).join('\n')
  const addressed = styles.replaceAll('dusk.svg', dusk.address).replaceAll('night.svg', night.address)
  const style = createAsset('style.css', 'text/css; charset=utf-8', addressed)
  for (const { address, bytes } of [icon, dusk, night, style]) {
    server.get(address, (request, reply) => sendStatic(request, reply, bytes, assetHeaders))
  }
  return { style: style.address, icon: icon.address }
}

const assetHeaders = {
  ...transportHeaders,
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

function readLook(file: string): string {
  return readFileSync(new URL(`./look/${file}`, import.meta.url), 'utf8')
}

function createAsset(file: string, type: string, text: string): Asset {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 12)
  return { address: `/assets/${file.replace('.', `-${hash}.`)}`, bytes: compress(type, Buffer.from(text)) }
}
