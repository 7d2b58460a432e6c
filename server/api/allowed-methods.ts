// Collects the methods of each path while routes are registered, for the `Allow` header of 405 responses.

import type { FastifyInstance } from 'fastify'

/** `config` of routes that only keep a method from being taken for that of a path with a parameter. */
export const refused = { isRefused: true } as const

export class AllowedMethods {
  readonly #paths = new Map<string, { pattern: RegExp; methods: Set<string> }>()

  /** Call before the first route is registered. */
  observe(server: FastifyInstance): void {
    server.addHook('onRoute', ({ url, method, config }) => {
      if (url.includes('*') || (config as { isRefused?: boolean } | undefined)?.isRefused) return
      for (const one of [method].flat()) this.#add(url, one)
    })
  }

  /** Methods of a path (without query), including OPTIONS; undefined if there is no such path. */
  find(path: string): readonly string[] | undefined {
    const methods = new Set<string>()
    const found = [...this.#paths.entries()].filter(([, { pattern }]) => pattern.test(path))
    // A path of its own is none of those with a parameter in the same place.
    const own = found.filter(([url]) => !url.includes(':'))
    for (const [, known] of own.length > 0 ? own : found) for (const method of known.methods) methods.add(method)
    return methods.size > 0 ? [...methods, 'OPTIONS'] : undefined
  }

  #add(url: string, method: string): void {
    let known = this.#paths.get(url)
    if (!known) {
      const pattern = url.replace(/\/$/, '').replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')
      known = { pattern: new RegExp(`^${pattern}/?$`), methods: new Set() }
      this.#paths.set(url, known)
    }
    known.methods.add(method)
  }
}
