// The style sheet and the pictures of the pages. Their addresses hold a hash of what they are, so that browsers keep them for good.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { transportHeaders } from '../answer.ts'

/** Addresses to link to. */
export type Look = { readonly style: string; readonly icon: string }

type Asset = { readonly address: string; readonly type: string; readonly text: string }

/** Reads the files; call once. */
export function registerLook(server: FastifyInstance): Look {
  const icon = openAsset('nightjar.svg', 'image/svg+xml')
  const dusk = openAsset('dusk.svg', 'image/svg+xml')
  const night = openAsset('night.svg', 'image/svg+xml')
  const style = openAsset('style.css', 'text/css; charset=utf-8', (text) =>
    text.replaceAll('dusk.svg', dusk.address).replaceAll('night.svg', night.address),
  )
  for (const { address, type, text } of [icon, dusk, night, style]) {
    server.get(address, (_request, reply) => reply.headers(assetHeaders).type(type).send(text))
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

function openAsset(file: string, type: string, change = (text: string) => text): Asset {
  const text = change(readFileSync(new URL(`./look/${file}`, import.meta.url), 'utf8'))
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 12)
  return { address: `/assets/${file.replace('.', `-${hash}.`)}`, type, text }
}
